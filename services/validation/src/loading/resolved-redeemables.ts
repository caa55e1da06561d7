import type { CommitOutcome, LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { DecisionInput, RedeemableInput } from "../mapping/decision-input.ts";
import { loadVouchers } from "./gather.ts";
import {
  expandStacks,
  loadPromotions,
  hasPromotions,
  NO_PROMOTIONS,
  type Promotions,
} from "./promotions.ts";

/** The redeemables of a request as they are stored: read again each time it is decided. */
export type ResolvedRedeemables = {
  /** Stacks are replaced by their tiers. */
  readonly refs: readonly RedeemableInput[];
  /** By the code or id that was sent. */
  readonly vouchers: ReadonlyMap<string, LoadedVoucher>;
  readonly promotions: Promotions;
  /** What the idempotency key was answered before. */
  readonly earlier: CommitOutcome | undefined;
};

export async function resolveRedeemables(
  deps: Deps,
  call: Call,
  { redeemables, session }: Pick<DecisionInput, "redeemables" | "session">,
): Promise<ResolvedRedeemables> {
  const codes = redeemables.flatMap(({ object, id }) => (object === "voucher" ? [id] : []));
  const [{ vouchers, storedOutcome: earlier }, promotions] = await Promise.all([
    loadVouchers(deps, call, { codes, sessionKey: session?.key }),
    hasPromotions(redeemables) ? loadPromotions(deps, call, redeemables) : NO_PROMOTIONS,
  ]);
  return {
    refs: expandStacks(redeemables, promotions),
    vouchers: new Map(vouchers.map((voucher, index) => [codes[index] ?? "", voucher])),
    promotions,
    earlier,
  };
}
