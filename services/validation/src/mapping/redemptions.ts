import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { ValidationRulesAssignmentList } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type { ReplayData, Redemptions } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type {
  Redemption,
  CommittedRedemptions,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { UNLIMITED } from "./applicable-to.ts";
import type { Audience } from "./explanation.ts";

export function redemptionsToProto(
  committed: CommittedRedemptions,
  replayData: ReplayData,
  audience: Audience,
): Redemptions {
  const redemptions = withReplayData(committed.redemptions, replayData).map((one) =>
    redactFor(audience, one),
  );
  const parentRedemption =
    committed.parentRedemption && redactFor(audience, committed.parentRedemption);
  const order = (parentRedemption ?? redemptions[0])?.order;
  return {
    $typeName: "scrip.validation.v1.Redemptions",
    redemptions,
    inapplicableRedeemables: replayData.inapplicableRedeemables,
    skippedRedeemables: replayData.skippedRedeemables,
    ...(parentRedemption !== undefined && { parentRedemption }),
    ...(order !== undefined && { order }),
  };
}

export function singleRedemptionToProto(
  committed: CommittedRedemptions,
  replayData: ReplayData,
  audience: Audience,
): Redemption {
  const [redemption] = withReplayData(committed.redemptions, replayData);
  if (redemption === undefined) throw new Error("a commit returned no redemption");
  return redactFor(audience, redemption);
}

/** Adds the rule assignments and explanations of the decision, and lists nothing where nothing is limited. */
function withReplayData(redemptions: readonly Redemption[], replayData: ReplayData): Redemption[] {
  return redemptions.map((redemption, index) => {
    const explanation = replayData.explanations[index];
    return {
      ...redemption,
      ...(redemption.voucher !== undefined && {
        voucher: {
          ...redemption.voucher,
          applicableTo: redemption.voucher.applicableTo ?? UNLIMITED.applicableTo,
          inapplicableTo: redemption.voucher.inapplicableTo ?? UNLIMITED.inapplicableTo,
          validationRulesAssignments: replayData.assignments[index] ?? NO_RULES,
        },
      }),
      ...(explanation !== undefined && { explanation }),
    };
  });
}

/**
 * Client-side callers can name any customer by a source id, so they see only the ids, never stored
 * data. Which rules decide is internal to the merchant.
 */
function redactFor(audience: Audience, redemption: Redemption): Redemption {
  if (audience === "server") return redemption;
  const { customer, voucher } = redemption;
  return {
    ...redemption,
    ...(customer !== undefined && { customer: identityOf(customer) }),
    ...(voucher !== undefined && { voucher: { ...voucher, validationRulesAssignments: NO_RULES } }),
  };
}

const identityOf = ({ $typeName, id, sourceId }: Customer): Customer => ({
  $typeName,
  ...(id !== undefined && { id }),
  ...(sourceId !== undefined && { sourceId }),
});

const NO_RULES: ValidationRulesAssignmentList = {
  $typeName: "scrip.common.v1.ValidationRulesAssignmentList",
  data: [],
  total: 0n,
};
