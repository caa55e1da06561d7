import { type DeliveredEvent, type EventHandler, eventMessage } from "@scrip/events";
import type { Database, DefinitionKey, DefinitionVersions } from "@scrip/postgres";
import {
  CampaignChanged_Change,
  CampaignChangedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import {
  CampaignVouchersDeletedSchema,
  VoucherDeletedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { deleteAssignmentsOfObjects, findObjectsWithRules } from "../store/rule-assignments.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Deletes the rule assignments of deleted vouchers and campaigns. Repeatable, so it needs no inbox. */
export const onDeletion =
  (db: Database, definitions: DefinitionVersions): EventHandler =>
  async (events) => {
    const deleted = events.flatMap(deletedObjectsOf);
    // Most vouchers have no rules; checking first avoids invalidating the caches.
    const found = await findObjectsWithRules(db, deleted);
    for (const [projectId, ofProject] of Map.groupBy(found, (one) => one.projectId)) {
      const ids = ofProject.map(({ key }) => key);
      await definitions.write(projectId, (tx) => deleteAssignmentsOfObjects(tx, projectId, ids));
    }
  };

function deletedObjectsOf(event: DeliveredEvent): readonly DefinitionKey[] {
  const voucher = eventMessage(event, VoucherDeletedSchema);
  if (voucher !== undefined) return [{ projectId: voucher.projectId, key: voucher.voucherId }];
  const vouchers = eventMessage(event, CampaignVouchersDeletedSchema);
  if (vouchers !== undefined) {
    const { projectId, voucherIds } = vouchers;
    return voucherIds.map((key) => ({ projectId, key }));
  }
  const campaign = eventMessage(event, CampaignChangedSchema);
  if (campaign?.change !== CampaignChanged_Change.DELETED) return [];
  return [{ projectId: campaign.projectId, key: campaign.campaignId }];
}
