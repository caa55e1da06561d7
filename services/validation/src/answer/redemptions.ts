import type {
  RedemptionNote,
  Redemptions,
  Scope,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Redemption, RedemptionsMade } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { UNLIMITED } from "./applicable-to.ts";

export function redemptionsMessage(made: RedemptionsMade, note: RedemptionNote): Redemptions {
  const redemptions = told(made.redemptions, note);
  const { parentRedemption } = made;
  const order = (parentRedemption ?? redemptions[0])?.order;
  return {
    $typeName: "scrip.validation.v1.Redemptions",
    redemptions,
    inapplicableRedeemables: note.inapplicableRedeemables,
    skippedRedeemables: note.skippedRedeemables,
    ...(parentRedemption !== undefined && { parentRedemption }),
    ...(order !== undefined && { order }),
  };
}

/** The answer to a request for one redeemable alone. */
export function singleRedemption(made: RedemptionsMade, note: RedemptionNote): Redemption {
  const [redemption] = told(made.redemptions, note);
  if (redemption === undefined) throw new Error("a redemption was committed and not answered");
  return redemption;
}

/** With what only the decision knew: what was limited to what, and how it was decided. */
function told(redemptions: readonly Redemption[], note: RedemptionNote): Redemption[] {
  return redemptions.map((redemption, index) => {
    const explanation = note.explanations[index];
    return {
      ...redemption,
      ...(redemption.voucher !== undefined && {
        voucher: { ...redemption.voucher, ...scopeOf(note.scopes[index]) },
      }),
      ...(explanation !== undefined && { explanation }),
    };
  });
}

const scopeOf = (scope: Scope | undefined): Pick<Scope, "applicableTo" | "inapplicableTo"> =>
  scope === undefined
    ? UNLIMITED
    : { applicableTo: scope.applicableTo, inapplicableTo: scope.inapplicableTo };
