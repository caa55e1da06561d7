import { type EventHandler, eventMessage, inboxHandler } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import {
  type ValidationsCounted,
  ValidationsCountedSchema,
} from "@scrip/proto/scrip/events/v1/validations_pb";

import { addCampaignValidations, type DailyValidations } from "../store/campaign-validations.ts";

export const VALIDATIONS_TOPIC = "scrip.validations.v1";

/** Adds the validations that processes have counted to those of their campaigns, each event exactly once. */
export const onValidations = (db: Database): EventHandler =>
  inboxHandler(db, {
    consumer: "campaign-validations",
    read: (event) => eventMessage(event, ValidationsCountedSchema),
    work: addCounts,
  });

async function addCounts(tx: Queryable, events: readonly ValidationsCounted[]): Promise<void> {
  const sums = new Map<string, DailyValidations>();
  for (const { projectId, campaigns } of events) {
    for (const { campaignId, day, succeeded, failed } of campaigns) {
      const name = JSON.stringify([projectId, campaignId, day]);
      const before = sums.get(name);
      sums.set(name, {
        projectId,
        campaignId,
        day,
        succeeded: (before?.succeeded ?? 0n) + succeeded,
        failed: (before?.failed ?? 0n) + failed,
      });
    }
  }
  await addCampaignValidations(tx, [...sums.values()]);
}
