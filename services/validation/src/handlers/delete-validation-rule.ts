import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse as resourceInUse, notFound, ApiError } from "@scrip/errors";
import { createdAtMs } from "@scrip/ids";
import { sqlState } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findExisting } from "../loading/assignable-objects.ts";
import {
  type AssignmentRow,
  deleteAssignments,
  listAssignments,
} from "../store/rule-assignments.ts";
import { claimRule, deleteRule } from "../store/validation-rules.ts";

/** How many assignments are looked at together; a refusal names as many objects at most. */
const ROUND = 100;

/** Objects that were deleted before their rule: ten thousand of them are cleared away in one call. */
const MAX_ROUNDS = 100;

/** The object of an assignment that is younger than this may be about to be made. */
const YOUNG_MS = 60_000;

/** Postgres says so of a row that others refer to. */
const FOREIGN_KEY_VIOLATION = "23503";

export const deleteValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.deleteValidationRule> =>
  async ({ validationRuleId: ruleId }, call) => {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const leftOver = await findLeftOver(deps, call, ruleId);
      if (await clear(deps, call.project.id, { ruleId, leftOver })) return create(EmptySchema);
    }
    throw new ApiError("resource_in_use", {
      details: `Resource validation_rules with id ${ruleId} was assigned to very many objects that are gone; delete it again`,
    });
  };

/**
 * Assignments whose object is gone: deleted, or never made because the process that was about to make
 * it died. They belong to nobody, and so nobody else clears them away.
 */
async function findLeftOver(
  deps: Deps,
  call: Call,
  ruleId: string,
): Promise<readonly AssignmentRow[]> {
  const { rows, total } = await listAssignments(deps.db, {
    projectId: call.project.id,
    ruleId,
    order: "created_at",
    limit: ROUND,
    offset: 0,
  });
  const existing = await findExisting(deps, call, rows);
  const oldest = Date.now() - YOUNG_MS;
  const inUse = rows.filter(
    ({ id, object_id: objectId }) => existing.has(objectId) || (createdAtMs(id) ?? 0) > oldest,
  );
  if (inUse.length > 0) throw refuseInUse(ruleId, inUse, total);
  return rows;
}

/** Names those of one type: there may be vouchers and campaigns. */
function refuseInUse(ruleId: string, inUse: readonly AssignmentRow[], total: bigint): ApiError {
  const type = inUse[0]?.object_type ?? "";
  const ids = inUse.filter((it) => it.object_type === type).map((it) => it.object_id);
  return resourceInUse("validation_rules", ruleId, { type, ids, total });
}

/** Answers whether the rule is gone; not while more is assigned than was looked at. */
async function clear(
  { definitions }: Deps,
  projectId: string,
  { ruleId, leftOver }: { readonly ruleId: string; readonly leftOver: readonly AssignmentRow[] },
): Promise<boolean> {
  try {
    await definitions.write(projectId, async (tx) => {
      // First: whoever assigns the rule holds it too, and waits for assignments that go.
      if (!(await claimRule(tx, projectId, ruleId))) throw notFound("validation_rules", ruleId);
      await deleteAssignments(
        tx,
        projectId,
        leftOver.map(({ id }) => id),
      );
      if (leftOver.length < ROUND) await deleteRule(tx, projectId, ruleId);
    });
    return leftOver.length < ROUND;
  } catch (error) {
    // Somebody assigned it in between.
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return false;
    throw error;
  }
}
