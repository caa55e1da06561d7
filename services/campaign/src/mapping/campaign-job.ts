import { create } from "@bufbuild/protobuf";
import {
  type CampaignJob as CampaignJobMessage,
  CampaignJobSchema,
} from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";

import type { CampaignJob, CampaignJobType } from "../domain/campaign-job.ts";

export const asyncActionType = (type: CampaignJobType): string => `CAMPAIGN.VOUCHERS_${type}`;

export const campaignJobToProto = (job: CampaignJob): CampaignJobMessage =>
  create(CampaignJobSchema, {
    id: job.id,
    type: asyncActionType(job.type),
    campaignId: job.campaignId,
    total: job.total,
    done: job.done,
    finished: job.status !== "PENDING",
  });
