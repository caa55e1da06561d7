import { type Env, readEnv, variable } from "@scrip/config";

const DEFAULT_MAX_VOUCHERS = 5_000_000;
const LARGEST = 1_000_000_000;

/** Limits of campaigns, from environment variables. */
export const readCampaignLimits = (env: Env): { readonly maxVouchers: number } =>
  readEnv(env, {
    maxVouchers: {
      name: "SCRIP_LIMIT_CAMPAIGN_VOUCHERS",
      reader: variable.withDefault(variable.integer(1, LARGEST), DEFAULT_MAX_VOUCHERS),
    },
  });
