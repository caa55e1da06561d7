import { filterCondition, timeRangeConditions } from "@scrip/filters";
import { enumName } from "@scrip/mapping";
import { parsePage } from "@scrip/postgres";
import {
  CampaignStatus,
  CampaignType,
  type CampaignService,
  type ListCampaignsRequest,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Call, Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { campaignFilters } from "../store/campaign-filters.ts";
import { listCampaigns as list } from "../store/campaign-lists.ts";
import { NEWEST_FIRST } from "../store/columns.ts";

export const listCampaigns =
  (deps: Deps): Handler<typeof CampaignService.method.listCampaigns> =>
  async (request, call) => {
    const values: unknown[] = [call.project.id];
    const { records, total } = await list(deps.db, {
      projectId: call.project.id,
      conditions: conditionsOf(request, call, values),
      values,
      order: request.order ?? NEWEST_FIRST,
      ...parsePage(request),
    });
    const views = await loadCampaignTiers(deps.db, call.project.id, records);
    const expanded = request.expand.includes("category");
    return {
      $typeName: "scrip.campaign.v1.ListCampaignsResponse",
      campaigns: views.map((view) => {
        const message = campaignToProto(view, call.project);
        return expanded ? message : { ...message, categories: [] };
      }),
      total,
    };
  };

/** SQL over `campaign p` and `category c`; request values are added to `values`. */
function conditionsOf(request: ListCampaignsRequest, call: Call, values: unknown[]): string[] {
  const conditions: string[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const type = enumName(CampaignType, request.campaignType);
  const status = enumName(CampaignStatus, request.campaignStatus);
  if (type !== undefined) conditions.push(`p.campaign_type = ${bind(type)}`);
  if (status !== undefined) conditions.push(`p.creation_status = ${bind(status)}`);
  if (request.isReferralCode !== undefined) {
    conditions.push(`(p.campaign_type = 'REFERRAL_PROGRAM') = ${bind(request.isReferralCode)}`);
  }
  conditions.push(
    ...timeRangeConditions("p.created_at", request.createdAt, values),
    ...timeRangeConditions("p.updated_at", request.updatedAt, values),
  );
  conditions.push(filterCondition(request.filters, { fields: campaignFilters, call, values }));
  return conditions;
}
