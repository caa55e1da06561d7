import { create } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import { instantToProto } from "@scrip/mapping";
import {
  type CampaignService,
  type CampaignSummary,
  CampaignSummarySchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";
import { instantAt, localTimeAt, parseDay } from "@scrip/rules";

import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import type { CampaignType } from "../domain/campaign.ts";
import { loadCampaignTiers } from "../loading/campaign-tiers.ts";
import { campaignToProto } from "../mapping/campaign.ts";
import { sumCampaignValidations } from "../store/campaign-validations.ts";

export const getCampaignSummary =
  (deps: Deps): Handler<typeof CampaignService.method.getCampaignSummary> =>
  async ({ campaignId: idOrName, startDate, endDate }, call) => {
    if (startDate !== undefined && endDate !== undefined && endDate < startDate) {
      throw new ApiError("invalid_query_params", {
        details: "Property .end_date must not be before .start_date",
      });
    }
    const { timeZone } = call.project;
    const from = startDate === undefined ? undefined : parseDay(startDate, timeZone);
    const lastDay = endDate === undefined ? undefined : parseDay(endDate, timeZone);
    const record = await requireCampaign(deps.db, call.project.id, idOrName);
    const { campaign } = record;
    const { figures } = await deps.vouchers.summarizeCampaign(
      {
        campaignId: campaign.id,
        campaignType: campaign.campaignType,
        ...(from !== undefined && { from: instantToProto(from) }),
        ...(lastDay !== undefined && { until: instantToProto(dayAfter(timeZone, lastDay)) }),
      },
      call,
    );
    const { succeeded, failed } = await sumCampaignValidations(
      deps.db,
      { projectId: call.project.id, campaignId: campaign.id },
      { from: startDate, until: endDate },
    );
    const validations = {
      validations: succeeded + failed,
      validations_succeeded: succeeded,
      validations_failed: failed,
    };
    const [withTiers = record] = await loadCampaignTiers(deps.db, call.project.id, [record]);
    const summary = create(CampaignSummarySchema, {
      campaign: { ...campaignToProto(withTiers, call.project), categories: [] },
    });
    return Object.assign(summary, figuresOf(campaign.campaignType, { ...figures, ...validations }));
  };

const dayAfter = (timeZone: string, day: number): number =>
  instantAt(timeZone, localTimeAt(timeZone, day).epochDay + 1, 0);

/** Credits and points have figures of their own. */
const OTHER_FIGURES: Readonly<Partial<Record<CampaignType, readonly string[]>>> = {
  GIFT_VOUCHERS: ["discounted_amount", "rolledback_discounted_amount"],
  LOYALTY_PROGRAM: ["discounted_amount", "rolledback_discounted_amount"],
};

/** The figures under the names of the fields that show them. */
function figuresOf(
  type: CampaignType,
  figures: Readonly<Record<string, bigint>>,
): Partial<CampaignSummary> {
  const without = new Set([
    ...(OTHER_FIGURES[type] ?? []),
    ...(type === "LOYALTY_PROGRAM" ? [] : ["created_vouchers_points"]),
  ]);
  return Object.fromEntries(
    CampaignSummarySchema.fields
      .filter(({ name }) => !without.has(name) && Object.hasOwn(figures, name))
      .map(({ name, localName }) => [localName, figures[name]]),
  );
}
