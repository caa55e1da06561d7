import { ApiError } from "@scrip/errors";

export const invalidCampaign = (details: string): ApiError =>
  new ApiError("invalid_campaign", { details });

export const invalidCampaignParams = (details: string): ApiError =>
  new ApiError("invalid_campaign_params", { details });
