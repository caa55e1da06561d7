import { countFromProto } from "@scrip/mapping";
import type { CountResult, RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { projectCountKey } from "../domain/counts.ts";
import { readCounts } from "../store/counts.ts";

/** Reads the counts of a whole batch together. */
export const countRedemptions =
  (deps: Deps): Handler<typeof RedemptionService.method.countRedemptions> =>
  async ({ queries }) => {
    const requested = queries.map(({ projectId, counts }) =>
      counts.map((count) => ({ projectId, ...countFromProto(count) })),
    );
    const counted = await readCounts(deps.db, requested.flat());
    const values = new Map(counted.map(({ count, value }) => [projectCountKey(count), value]));
    return {
      $typeName: "scrip.voucher.v1.CountRedemptionsResponse",
      results: requested.map((counts): CountResult => ({
        $typeName: "scrip.voucher.v1.CountResult",
        values: counts.map((count) => values.get(projectCountKey(count)) ?? 0n),
      })),
    };
  };
