import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { ResolvedRedeemables } from "../mapping/decision-context.ts";
import type { DecisionInput } from "../mapping/decision-input.ts";
import { NO_PROMOTIONS, hasPromotions, expandStacks } from "../mapping/promotions.ts";
import { loadPromotions } from "./promotions.ts";
import { loadVouchers } from "./vouchers.ts";

export async function resolveRedeemables(
  deps: Deps,
  call: Call,
  { redeemables, session }: Pick<DecisionInput, "redeemables" | "session">,
  /** Redemptions store whole tiers, validations need only their definitions. */
  { tierSummaries }: { readonly tierSummaries: boolean } = { tierSummaries: false },
): Promise<ResolvedRedeemables> {
  const codes = redeemables.flatMap(({ object, id }) => (object === "voucher" ? [id] : []));
  const [{ vouchers, storedOutcome }, promotions] = await Promise.all([
    loadVouchers(deps, call, { codes, sessionKey: session?.key }),
    hasPromotions(redeemables)
      ? loadPromotions(deps, call, redeemables, tierSummaries)
      : NO_PROMOTIONS,
  ]);
  return {
    redeemables: expandStacks(redeemables, promotions),
    vouchers: new Map(vouchers.map((voucher, index) => [codes[index] ?? "", voucher])),
    promotions,
    storedOutcome,
  };
}
