import { ApiError } from "@scrip/errors";
import { TooManySnapshots } from "@scrip/postgres";
import type { CardService, OpenCardSnapshotResponse } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

export const openCardSnapshot =
  ({ db }: Deps): Handler<typeof CardService.method.openCardSnapshot> =>
  (_request, { project, signal, stopping }) => {
    const ends = [signal, stopping].filter((each) => each !== undefined);
    return namesOf(db.holdSnapshot(project.id, AbortSignal.any(ends)));
  };

async function* namesOf(snapshots: AsyncIterable<string>): AsyncIterable<OpenCardSnapshotResponse> {
  try {
    for await (const snapshot of snapshots) {
      yield { $typeName: "scrip.loyalty.v1.OpenCardSnapshotResponse", snapshot };
    }
  } catch (error) {
    if (!(error instanceof TooManySnapshots)) throw error;
    throw new ApiError("too_many_requests", { details: error.message, cause: error });
  }
}
