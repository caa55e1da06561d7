import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database, DefinitionVersions } from "@scrip/postgres";
import { VoucherDeletedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { deleteAssignmentsOfObjects, findObjectsWithRules } from "../store/rule-assignments.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/**
 * Takes the rules away from vouchers that were deleted, so that no listing shows them. A repeat finds
 * nothing to take away, and no inbox is needed.
 */
export const onVoucher =
  (db: Database, definitions: DefinitionVersions): EventHandler =>
  async (events) => {
    const deleted = events.flatMap((event) => eventMessage(event, VoucherDeletedSchema) ?? []);
    // Most vouchers have no rules, and what is remembered of rules outlives their deletion.
    const found = await findObjectsWithRules(
      db,
      deleted.map(({ projectId, voucherId }) => ({ projectId, key: voucherId })),
    );
    for (const [projectId, ofProject] of Map.groupBy(found, (one) => one.projectId)) {
      const ids = ofProject.map(({ key }) => key);
      await definitions.write(projectId, (tx) => deleteAssignmentsOfObjects(tx, projectId, ids));
    }
  };
