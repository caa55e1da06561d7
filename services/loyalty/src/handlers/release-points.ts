import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { releaseLocks } from "../store/points-locks.ts";

/** Takes no card locks: released points cannot make a concurrent decision wrong. */
export const releasePoints =
  (deps: Deps): Handler<typeof CardService.method.releasePoints> =>
  async ({ releases }) => {
    await releaseLocks(
      deps.db,
      releases.map(({ projectId, sessionKey, cardId = null, until }) => ({
        projectId,
        sessionKey,
        cardId,
        until: until === undefined ? null : timestampMs(until),
      })),
    );
    return { $typeName: "scrip.loyalty.v1.ReleasePointsResponse" };
  };
