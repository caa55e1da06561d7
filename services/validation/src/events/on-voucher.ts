import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database, DefinitionVersions } from "@scrip/postgres";
import { VoucherDeletedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { deleteAssignmentsOfObjects, findObjectsWithRules } from "../store/rule-assignments.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/** Deletes the rule assignments of deleted vouchers. Repeatable, so it needs no inbox. */
export const onVoucher =
  (db: Database, definitions: DefinitionVersions): EventHandler =>
  async (events) => {
    const deleted = events.flatMap((event) => eventMessage(event, VoucherDeletedSchema) ?? []);
    // Most vouchers have no rules; checking first avoids invalidating the caches.
    const found = await findObjectsWithRules(
      db,
      deleted.map(({ projectId, voucherId }) => ({ projectId, key: voucherId })),
    );
    for (const [projectId, ofProject] of Map.groupBy(found, (one) => one.projectId)) {
      const ids = ofProject.map(({ key }) => key);
      await definitions.write(projectId, (tx) => deleteAssignmentsOfObjects(tx, projectId, ids));
    }
  };
