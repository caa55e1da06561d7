import type { ValidationRulesAssignmentList } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type { Redemption, RedemptionsMade } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import { toAssignment } from "../answer/assignment.ts";
import type { Deps } from "../deps.ts";
import { assignmentsOf } from "./assignments.ts";

/** How many assignments of one voucher an answer shows; the total counts them all. */
const SHOWN = 100;

/**
 * Shows in redeemed vouchers which rules they and their campaigns have. The decision has just asked for
 * these, so they are remembered, and the gateway need not come back for them.
 */
export async function showRules(
  { ruleCaches }: Pick<Deps, "ruleCaches">,
  { project }: Pick<Call, "project">,
  made: RedemptionsMade,
): Promise<RedemptionsMade> {
  const ids = made.redemptions.flatMap(objectIdsOf);
  if (ids.length === 0) return made;
  const found = await assignmentsOf(ruleCaches, project.id, ids);
  const redemptions = made.redemptions.map((redemption): Redemption => {
    if (redemption.voucher === undefined) return redemption;
    const rows = objectIdsOf(redemption).flatMap((id) => found.get(id) ?? []);
    const validationRulesAssignments: ValidationRulesAssignmentList = {
      $typeName: "scrip.common.v1.ValidationRulesAssignmentList",
      data: rows.slice(0, SHOWN).map(toAssignment),
      total: BigInt(rows.length),
    };
    return { ...redemption, voucher: { ...redemption.voucher, validationRulesAssignments } };
  });
  return { ...made, redemptions };
}

const objectIdsOf = ({ voucher }: Redemption): readonly string[] =>
  voucher === undefined ? [] : [voucher.id, ...(voucher.campaignId ? [voucher.campaignId] : [])];
