import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse as resourceInUse, notFound, ApiError } from "@scrip/errors";
import { createdAtMs } from "@scrip/ids";
import { sqlState } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findExistingObjects } from "../loading/assignable-objects.ts";
import {
  type AssignmentRow,
  deleteAssignments,
  listAssignments,
} from "../store/rule-assignments.ts";
import { lockRuleForDeletion, deleteRule } from "../store/validation-rules.ts";

/** How many assignments are looked at together; a refusal names as many objects at most. */
const BATCH_SIZE = 100;

/** Objects that were deleted before their rule: ten thousand of them are cleared away in one call. */
const MAX_BATCHES = 100;

/** The object of an assignment that is younger than this may be about to be made. */
const RECENT_MS = 60_000;

/** Postgres says so of a row that others refer to. */
const FOREIGN_KEY_VIOLATION = "23503";

export const deleteValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.deleteValidationRule> =>
  async ({ validationRuleId: ruleId }, call) => {
    for (let round = 0; round < MAX_BATCHES; round += 1) {
      const leftOver = await findOrphanedAssignments(deps, call, ruleId);
      if (await deleteRuleAndOrphans(deps, call.project.id, { ruleId, leftOver }))
        return create(EmptySchema);
    }
    throw new ApiError("resource_in_use", {
      details: `Resource validation_rules with id ${ruleId} was assigned to very many objects that are gone; delete it again`,
    });
  };

/**
 * Assignments whose object is gone: deleted, or never made because the process that was about to make
 * it died. They belong to nobody, and so nobody else clears them away.
 */
async function findOrphanedAssignments(
  deps: Deps,
  call: Call,
  ruleId: string,
): Promise<readonly AssignmentRow[]> {
  const { rows, total } = await listAssignments(deps.db, {
    projectId: call.project.id,
    ruleId,
    order: "created_at",
    limit: BATCH_SIZE,
    offset: 0,
  });
  const existing = await findExistingObjects(deps, call, rows);
  const oldest = Date.now() - RECENT_MS;
  const inUse = rows.filter(
    ({ id, object_id: objectId }) => existing.has(objectId) || (createdAtMs(id) ?? 0) > oldest,
  );
  if (inUse.length > 0) throw rejectInUse(ruleId, inUse, total);
  return rows;
}

/** Names those of one type: there may be vouchers and campaigns. */
function rejectInUse(ruleId: string, inUse: readonly AssignmentRow[], total: bigint): ApiError {
  const type = inUse[0]?.object_type ?? "";
  const ids = inUse.filter((it) => it.object_type === type).map((it) => it.object_id);
  return resourceInUse("validation_rules", ruleId, { type, ids, total });
}

/** Answers whether the rule is gone; not while more is assigned than was looked at. */
async function deleteRuleAndOrphans(
  { definitions }: Deps,
  projectId: string,
  { ruleId, leftOver }: { readonly ruleId: string; readonly leftOver: readonly AssignmentRow[] },
): Promise<boolean> {
  try {
    await definitions.write(projectId, async (tx) => {
      // First: whoever assigns the rule holds it too, and waits for assignments that go.
      if (!(await lockRuleForDeletion(tx, projectId, ruleId)))
        throw notFound("validation_rules", ruleId);
      await deleteAssignments(
        tx,
        projectId,
        leftOver.map(({ id }) => id),
      );
      if (leftOver.length < BATCH_SIZE) await deleteRule(tx, projectId, ruleId);
    });
    return leftOver.length < BATCH_SIZE;
  } catch (error) {
    // Somebody assigned it in between.
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return false;
    throw error;
  }
}
