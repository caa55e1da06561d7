import { notFound } from "@scrip/errors";
import type { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadEntries } from "../loading/redemptions.ts";

/** A rollback is found by its id too: it is what its redemption has become. */
export const getRedemption =
  (deps: Deps): Handler<typeof RedemptionService.method.getRedemption> =>
  async ({ redemptionId: id }, call) => {
    const isRollback = /^rrf?_/.test(id);
    const [found] = await loadEntries(deps.db, call.project.id, [{ id, isRollback }]);
    if (found === undefined) throw notFound("redemption", id);
    return found;
  };
