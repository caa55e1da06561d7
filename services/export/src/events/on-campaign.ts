import { currentTime } from "@scrip/clock";
import { type DeliveredEvent, type EventHandler, eventMessage, inboxHandler } from "@scrip/events";
import { optionalInstantFromProto } from "@scrip/mapping";
import type { Database } from "@scrip/postgres";
import {
  type CampaignJobRequested,
  CampaignJobRequestedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";

import { startCampaignAction } from "../campaign/start-campaign-action.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Starts the async actions of jobs that the campaign service has added. */
export const onCampaign = (db: Database): EventHandler =>
  inboxHandler(db, {
    consumer: "campaign-jobs",
    read: (event: DeliveredEvent) => eventMessage(event, CampaignJobRequestedSchema),
    async work(tx, jobs: readonly CampaignJobRequested[]) {
      for (const { projectId, jobId: id, type, total, requestId, date } of jobs) {
        const project = { id: projectId, timeZone: "UTC", caseSensitiveCodes: true };
        const now = optionalInstantFromProto(date) ?? currentTime();
        await startCampaignAction(tx, { project, requestId, now }, { id, type, total });
      }
    },
  });
