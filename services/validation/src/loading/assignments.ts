import { timestampDate } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type AssignmentListing,
  type AssignmentRow,
  listAssignments,
} from "../store/rule-assignments.ts";
import type { CountedRuleRow } from "../store/validation-rules.ts";

/** One page and the total number of assignments, with those to earning rules, which loyalty stores: at most a hundred. */
export async function listAllAssignments(
  deps: Pick<Deps, "db" | "clients">,
  call: Call,
  listing: Omit<AssignmentListing, "projectId" | "others">,
): ReturnType<typeof listAssignments> {
  const others = await listToEarningRules(deps, call, listing);
  return listAssignments(deps.db, { ...listing, projectId: call.project.id, others });
}

/** Longer than the lookup takes, and well below the deadline of a request. */
const COUNT_MS = 2_000;

/**
 * Adds the number of earning rules to the number of assignments; `ruleId`: the rows are of this rule only. While loyalty cannot
 * be reached, rules are returned without them.
 */
export async function countingEarningRules(
  deps: Pick<Deps, "clients" | "onError">,
  call: Call,
  ruleId?: string,
): Promise<(row: CountedRuleRow) => CountedRuleRow> {
  const deadline = Math.min(call.deadline, currentTime() + COUNT_MS);
  const assigned = await listToEarningRules(deps, { ...call, deadline }, { ruleId }).catch(
    (cause: unknown) => {
      deps.onError(new Error("assignments were counted without earning rules", { cause }));
      return [];
    },
  );
  const byRule = Map.groupBy(assigned, (row) => row.rule_id);
  return (row) => {
    const toEarningRules = BigInt(byRule.get(row.id)?.length ?? 0);
    return { ...row, assignments_count: row.assignments_count + toEarningRules };
  };
}

async function listToEarningRules(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  { ruleId, objectId }: Pick<AssignmentListing, "ruleId" | "objectId">,
): Promise<readonly AssignmentRow[]> {
  const assignments = await clients.listEarningRuleAssignments(
    {
      ...(ruleId !== undefined && { validationRuleId: ruleId }),
      ...(objectId !== undefined && { earningRuleId: objectId }),
    },
    call,
  );
  return assignments.map((one) => ({
    id: one.id,
    rule_id: one.ruleId,
    object_type: one.relatedObjectType,
    object_id: one.relatedObjectId,
    created_at: one.createdAt === undefined ? new Date(0) : timestampDate(one.createdAt),
  }));
}
