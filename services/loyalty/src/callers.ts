import type { Callers } from "@scrip/rpc";

/** Who of Scrip's services may call the RPCs of each group, besides the public ones, which the gateway may call. */
export const CALLERS: Callers = {
  "scrip.loyalty.v1.CardService": ["voucher", "validation", "export"],
  "scrip.loyalty.v1.CustomerImportService": ["export"],
  "scrip.loyalty.v1.CustomerService": ["voucher", "validation", "export"],
  "scrip.loyalty.v1.EarningRuleService": ["validation"],
  "scrip.loyalty.v1.JobService": ["gateway"],
  "scrip.loyalty.v1.LoyaltyExportService": ["export"],
  "scrip.loyalty.v1.RewardService": ["voucher", "validation"],
  "scrip.loyalty.v1.SegmentService": ["validation"],
};
