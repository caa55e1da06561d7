import type { CommitOutcome, GatheredVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Asked, Ref } from "../mapping/decision-input.ts";
import { gatherVouchers } from "./gather.ts";
import {
  expandStacks,
  gatherPromotions,
  namesPromotion,
  NO_PROMOTIONS,
  type Promotions,
} from "./promotions.ts";

/** The redeemables of a request as they are stored: read again each time it is decided. */
export type Named = {
  /** Stacks are replaced by their tiers. */
  readonly refs: readonly Ref[];
  /** By the code or id that was sent. */
  readonly vouchers: ReadonlyMap<string, GatheredVoucher>;
  readonly promotions: Promotions;
  /** What the idempotency key was answered before. */
  readonly earlier: CommitOutcome | undefined;
};

export async function gatherNamed(
  deps: Deps,
  call: Call,
  { redeemables, session }: Pick<Asked, "redeemables" | "session">,
): Promise<Named> {
  const codes = redeemables.flatMap(({ object, id }) => (object === "voucher" ? [id] : []));
  const [{ vouchers, earlier }, promotions] = await Promise.all([
    gatherVouchers(deps, call, { codes, sessionKey: session?.key }),
    namesPromotion(redeemables) ? gatherPromotions(deps, call, redeemables) : NO_PROMOTIONS,
  ]);
  return {
    refs: expandStacks(redeemables, promotions),
    vouchers: new Map(vouchers.map((voucher, index) => [codes[index] ?? "", voucher])),
    promotions,
    earlier,
  };
}
