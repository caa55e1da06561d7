import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import {
  CampaignChanged_Change,
  CampaignChangedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";

import { insertPromotionCampaigns, markPromotionsDeleted } from "../store/promotion-campaigns.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Stores the names of promotion campaigns, and which are deleted. Names never change, so it needs no inbox. */
export const onCampaign =
  (db: Database): EventHandler =>
  async (events) => {
    const changes = events.flatMap((event) => eventMessage(event, CampaignChangedSchema) ?? []);
    const promotions = changes.filter(({ campaignType }) => campaignType === "PROMOTION");
    if (promotions.length > 0) await insertPromotionCampaigns(db, promotions);
    const deleted = changes.filter(({ change }) => change === CampaignChanged_Change.DELETED);
    if (deleted.length > 0) await markPromotionsDeleted(db, deleted);
  };
