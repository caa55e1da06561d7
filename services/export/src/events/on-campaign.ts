import { currentTime } from "@scrip/clock";
import {
  type DeliveredEvent,
  type EventHandler,
  eventMessage,
  inboxHandler,
  projectVersionOf,
} from "@scrip/events";
import { optionalInstantFromProto } from "@scrip/mapping";
import type { Database } from "@scrip/postgres";
import {
  type CampaignJobRequested,
  CampaignJobRequestedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";

import { startCampaignAction } from "../campaign/start-campaign-action.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

type JobRequest = {
  readonly job: CampaignJobRequested;
  /** The version of the project that the request has seen. */
  readonly version: bigint | undefined;
};

/** Starts the async actions of jobs that the campaign service has added. */
export const onCampaign = (db: Database): EventHandler =>
  inboxHandler(db, {
    consumer: "campaign-jobs",
    read: (event: DeliveredEvent) => {
      const job = eventMessage(event, CampaignJobRequestedSchema);
      return job && { job, version: projectVersionOf(event) };
    },
    async work(tx, requests: readonly JobRequest[]) {
      for (const { job, version } of requests) {
        const { projectId, jobId: id, type, total, requestId, date } = job;
        const project = { id: projectId, version, timeZone: "UTC", caseSensitiveCodes: true };
        const now = optionalInstantFromProto(date) ?? currentTime();
        await startCampaignAction(tx, { project, requestId, now }, { id, type, total });
      }
    },
  });
