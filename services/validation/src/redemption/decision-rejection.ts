import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import type { Rejection } from "../domain/rejections/rejection.ts";
import type { DecisionContext } from "../mapping/decision-context.ts";
import type { Decided } from "../validation/decide.ts";

export type DecisionRejection = {
  readonly rejection: Rejection;
  /** The redeemable whose failed redemption is recorded; undefined if none of them exists. */
  readonly recordedOn: EvaluatedRedeemable | undefined;
};

/**
 * Why a decision redeems nothing. In mode ALL it is the first inapplicable redeemable; an unknown
 * one is rejected with its own 404 (docs/redemption-and-rollback.md#failed-redemptions).
 */
export function rejectionOfDecision(
  { redeemables }: Pick<Decided, "redeemables">,
  { stacking }: Pick<DecisionContext, "stacking">,
): DecisionRejection {
  const first = redeemables.find((evaluated) => evaluated.status === "INAPPLICABLE");
  if (stacking.redeemablesApplicationMode === "ALL" && first !== undefined) {
    return { rejection: first.rejection, recordedOn: isKnown(first) ? first : undefined };
  }
  const known = redeemables.filter(isKnown);
  return {
    rejection: {
      key: "no_applicable_redeemables",
      details: "None of the redeemables can be applied",
    },
    recordedOn: known.find(({ status }) => status === "INAPPLICABLE") ?? known[0],
  };
}

const isKnown = ({ redeemable }: EvaluatedRedeemable): boolean =>
  (redeemable.object === "voucher" ? redeemable.voucher : redeemable.tier) !== null;
