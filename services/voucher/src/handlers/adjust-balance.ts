import { create } from "@bufbuild/protobuf";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import {
  BalanceAdjustmentSchema,
  type TransactionService,
} from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { decideAdjustment } from "../domain/adjustment.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { giftBalanceAdjusted } from "../events/gift-balance-adjusted.ts";
import { requireVoucher } from "../loading/card-transactions.ts";
import { loadSessionLocks } from "../loading/session-locks.ts";
import { adjustPoints } from "../points/adjust-points.ts";
import { writeAdjustment } from "../store/gift-ledger.ts";
import { lockVoucher } from "../voucher/edit-voucher.ts";

export const adjustBalance =
  (deps: Deps): Handler<typeof TransactionService.method.adjustBalance> =>
  async (request, call) => {
    const { code, amount: change = 0n, sourceId = null, reason = null } = request;
    const found = await requireVoucher(deps, code, { call });
    if (found.definition.type === "LOYALTY_CARD") {
      const adjustment = {
        points: change,
        expirationType: "PROGRAM_RULES",
        sourceId: request.sourceId,
        reason: request.reason,
      };
      return adjustPoints(deps, found, { adjustment, call });
    }
    const usage = await deps.db.transaction(async (tx) => {
      const voucher = await lockVoucher(tx, call.project.id, code);
      const lockedCredits = await lockedCreditsOf(tx, voucher.usage, call);
      const adjusted = decideAdjustment(voucher.usage, { change, lockedCredits });
      const at = call.now;
      const adjustment = { usage: adjusted, change, source: "API", sourceId, reason, at };
      const event = giftBalanceAdjusted(
        deps.newId("event"),
        adjustment,
        voucher.definition.campaignId,
      );
      await Promise.all([writeAdjustment(tx, adjustment), enqueue(tx, [event], call)]);
      return adjusted;
    });
    deps.onEvents();
    return create(BalanceAdjustmentSchema, {
      amount: change,
      total: usage.amount,
      balance: usage.balance,
      type: "gift_voucher",
      operationType: "MANUAL",
      relatedObject: { id: usage.voucherId, type: "voucher" },
    });
  };

/** Credits that sessions lock on the voucher. */
async function lockedCreditsOf(tx: Queryable, usage: VoucherUsage, call: Call): Promise<bigint> {
  const { projectId, voucherId } = usage;
  const key = rowKey(projectId, voucherId);
  const caller = { projectId, sessionKey: null, at: call.now };
  const { totals } = await loadSessionLocks(tx, new Map([[key, usage]]), [caller]);
  return totals.get(key)?.credits ?? 0n;
}
