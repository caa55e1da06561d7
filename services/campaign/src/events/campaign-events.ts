import { create, toBinary } from "@bufbuild/protobuf";
import type { OutboxEvent } from "@scrip/events";
import { instantToProto } from "@scrip/mapping";
import {
  type CampaignChanged_Change,
  CampaignChangedSchema,
  CampaignJobRequestedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import type { CampaignJob } from "../domain/campaign-job.ts";
import type { Campaign } from "../domain/campaign.ts";
import { asyncActionType } from "../mapping/campaign-job.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

type ChangedCampaign = Pick<Campaign, "id" | "name"> & Partial<Pick<Campaign, "campaignType">>;

/** The event of a campaign that was created, changed or deleted. */
export const campaignChanged = (
  eventId: string,
  { id: campaignId, name, campaignType }: ChangedCampaign,
  {
    call: { project, now },
    change,
    jobId,
  }: {
    readonly call: Call;
    readonly change: CampaignChanged_Change;
    readonly jobId?: string;
  },
): OutboxEvent => ({
  projectId: project.id,
  id: eventId,
  topic: CAMPAIGNS_TOPIC,
  type: CampaignChangedSchema.typeName,
  key: campaignId,
  payload: toBinary(
    CampaignChangedSchema,
    create(CampaignChangedSchema, {
      projectId: project.id,
      campaignId,
      name,
      ...(campaignType !== undefined && { campaignType }),
      change,
      date: instantToProto(now),
      ...(jobId !== undefined && { jobId }),
    }),
  ),
});

/** The event from which the export service starts an async action. */
export const jobRequested = (
  eventId: string,
  job: CampaignJob,
  { project, requestId, now }: Call,
): OutboxEvent => ({
  projectId: project.id,
  id: eventId,
  topic: CAMPAIGNS_TOPIC,
  type: CampaignJobRequestedSchema.typeName,
  key: job.campaignId,
  payload: toBinary(
    CampaignJobRequestedSchema,
    create(CampaignJobRequestedSchema, {
      projectId: project.id,
      campaignId: job.campaignId,
      jobId: job.id,
      type: asyncActionType(job.type),
      total: job.total,
      requestId,
      date: instantToProto(now),
    }),
  ),
});
