import type { RedemptionNote, Redemptions } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Redemption, RedemptionsMade } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

export function redemptionsMessage(made: RedemptionsMade, note: RedemptionNote): Redemptions {
  const redemptions = explained(made.redemptions, note);
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
  const [redemption] = explained(made.redemptions, note);
  if (redemption === undefined) throw new Error("a redemption was committed and not answered");
  return redemption;
}

function explained(redemptions: Redemption[], { explanations }: RedemptionNote): Redemption[] {
  if (explanations.length === 0) return redemptions;
  return redemptions.map((redemption, index) => {
    const explanation = explanations[index];
    return explanation === undefined ? redemption : { ...redemption, explanation };
  });
}
