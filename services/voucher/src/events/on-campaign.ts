import { type EventHandler, eventMessage } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { CampaignChangedSchema } from "@scrip/proto/scrip/events/v1/campaigns_pb";

import { insertPromotionCampaigns } from "../store/promotion-campaigns.ts";

export const CAMPAIGNS_TOPIC = "scrip.campaigns.v1";

/** Stores the names of promotion campaigns. Names never change, so it needs no inbox. */
export const onCampaign =
  (db: Database): EventHandler =>
  async (events) => {
    const promotions = events.flatMap((event) => {
      const change = eventMessage(event, CampaignChangedSchema);
      return change?.campaignType === "PROMOTION" ? [change] : [];
    });
    if (promotions.length > 0) await insertPromotionCampaigns(db, promotions);
  };
