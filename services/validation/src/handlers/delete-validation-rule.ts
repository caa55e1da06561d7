import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { currentTime } from "@scrip/clock";
import { inUse as resourceInUse, notFound, ApiError } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import { createdAtMs } from "@scrip/ids";
import { sqlState } from "@scrip/postgres";
import type { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { validationRuleChanged } from "../events/validation-rule-changed.ts";
import { findExistingObjects } from "../loading/assignable-objects.ts";
import { rejectReferenced } from "../loading/references.ts";
import {
  type AssignmentRow,
  deleteAssignments,
  listAssignments,
} from "../store/rule-assignments.ts";
import { lockRuleForDeletion, deleteRule } from "../store/validation-rules.ts";

/** Assignments checked per batch; also the maximum number of objects that a rejection names. */
const BATCH_SIZE = 100;

/** Up to 10,000 orphaned assignments are deleted in one call. */
const MAX_BATCHES = 100;

/** A younger assignment may belong to an object that is still being created. */
const RECENT_MS = 60_000;

/** SQLSTATE of a row that other rows reference. */
const FOREIGN_KEY_VIOLATION = "23503";

export const deleteValidationRule =
  (deps: Deps): Handler<typeof ValidationRuleService.method.deleteValidationRule> =>
  async ({ validationRuleId: ruleId }, call) => {
    await rejectReferenced(deps, call, { type: "validation_rules", id: ruleId });
    for (let round = 0; round < MAX_BATCHES; round += 1) {
      const orphaned = await findOrphanedAssignments(deps, call, ruleId);
      if (await deleteRuleAndOrphans(deps, call, { ruleId, orphaned })) {
        deps.onEvents();
        return create(EmptySchema);
      }
    }
    throw new ApiError("resource_in_use", {
      details: `Resource validation_rules with id ${ruleId} has too many assignments of deleted objects for one request; send the request again`,
    });
  };

/**
 * Assignments whose object was deleted, or never created because its process died. Nothing else
 * deletes them.
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
  const oldest = currentTime() - RECENT_MS;
  const inUse = rows.filter(
    ({ id, object_id: objectId }) => existing.has(objectId) || (createdAtMs(id) ?? 0) > oldest,
  );
  if (inUse.length > 0) throw rejectInUse(ruleId, inUse, total);
  return rows;
}

/** Names objects of one type only, since the error names one type. */
function rejectInUse(ruleId: string, inUse: readonly AssignmentRow[], total: bigint): ApiError {
  const type = inUse[0]?.object_type ?? "";
  const ids = inUse.filter((it) => it.object_type === type).map((it) => it.object_id);
  return resourceInUse("validation_rules", ruleId, { type, ids, total });
}

/** Returns whether the rule was deleted; false while further assignments have to be checked. */
async function deleteRuleAndOrphans(
  { definitions, newId }: Deps,
  call: Call,
  { ruleId, orphaned }: { readonly ruleId: string; readonly orphaned: readonly AssignmentRow[] },
): Promise<boolean> {
  const projectId = call.project.id;
  try {
    await definitions.write(projectId, async (tx) => {
      // Locks the rule first: concurrent assignments lock it too, and wait for the deletions.
      if (!(await lockRuleForDeletion(tx, projectId, ruleId)))
        throw notFound("validation_rules", ruleId);
      await deleteAssignments(
        tx,
        projectId,
        orphaned.map(({ id }) => id),
      );
      if (orphaned.length === BATCH_SIZE) return;
      await deleteRule(tx, projectId, ruleId);
      const change = { projectId, ruleId, rules: null, at: call.now };
      await enqueue(tx, [validationRuleChanged(newId("event"), change)], call);
    });
    return orphaned.length < BATCH_SIZE;
  } catch (error) {
    // The rule was assigned concurrently.
    if (sqlState(error) === FOREIGN_KEY_VIOLATION) return false;
    throw error;
  }
}
