import type { ValidationRulesAssignmentList } from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import { assignmentToProto } from "../mapping/assignment.ts";
import { loadAssignments } from "./rule-assignments.ts";

/** Maximum number of assignments displayed for one voucher; the total counts all of them. */
const MAX_DISPLAYED = 100;

/**
 * Rule assignments of the applicable vouchers and their campaigns, one list per applicable
 * redeemable; empty when none has rules. The decision has just loaded them, so they come from the
 * cache.
 */
export async function loadDisplayedAssignments(
  { ruleCaches }: Pick<Deps, "ruleCaches">,
  { project }: Pick<Call, "project">,
  evaluated: readonly EvaluatedRedeemable[],
): Promise<readonly ValidationRulesAssignmentList[]> {
  const objects = evaluated.filter(({ status }) => status === "APPLICABLE").map(objectIdsOf);
  const loaded = await loadAssignments(ruleCaches, project.id, objects.flat());
  if (loaded.size === 0) return [];
  return objects.map((ids) => {
    const rows = ids.flatMap((id) => loaded.get(id) ?? []);
    return {
      $typeName: "scrip.common.v1.ValidationRulesAssignmentList",
      data: rows.slice(0, MAX_DISPLAYED).map(assignmentToProto),
      total: BigInt(rows.length),
    };
  });
}

function objectIdsOf({ redeemable }: EvaluatedRedeemable): readonly string[] {
  if (redeemable.object !== "voucher" || redeemable.voucher === null) return [];
  const { id, campaign } = redeemable.voucher;
  return campaign === null ? [id] : [id, campaign.id];
}
