import type { CardService, OpenCardSnapshotResponse } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

export const openCardSnapshot =
  ({ db }: Deps): Handler<typeof CardService.method.openCardSnapshot> =>
  (_request, { project }) =>
    namesOf(db.holdSnapshot(project.id));

async function* namesOf(snapshots: AsyncIterable<string>): AsyncIterable<OpenCardSnapshotResponse> {
  for await (const snapshot of snapshots) {
    yield { $typeName: "scrip.loyalty.v1.OpenCardSnapshotResponse", snapshot };
  }
}
