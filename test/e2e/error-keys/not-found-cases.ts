import type { Binding } from "@scrip/contract";

import type { CaseRequest, ErrorCase } from "./error-case.ts";
import { MINIMAL_BODIES } from "./minimal-bodies.ts";

const UNKNOWN_CUSTOMER = { customer: { id: "cust_none" } };

/** What is unknown, for RPCs whose path has no id. */
const UNKNOWN_REFERENCES: Readonly<Record<string, CaseRequest>> = {
  "VoucherService.CreateVoucher": { body: { category_id: "cat_none" } },
  "CampaignService.CreateCampaign": { body: { category_id: "cat_none" } },
  "LoyaltyProgramService.CreateCampaign": { body: { category_id: "cat_none" } },
  "CustomerService.CreateCustomer": { body: { id: "cust_none", source_id: undefined } },
  "CustomEventService.CreateCustomEvent": { body: UNKNOWN_CUSTOMER },
  "RewardService.CreateReward": {
    body: { type: "CAMPAIGN", parameters: { campaign: { id: "camp_none" } } },
  },
  "ValidationService.Validate": { body: UNKNOWN_CUSTOMER },
  "ValidationService.Redeem": { body: UNKNOWN_CUSTOMER },
  "ValidationService.ValidateCode": { query: { code: "none" } },
  "ValidationService.RedeemCode": { query: { code: "none" } },
  "ValidationService.ValidatePromotions": { body: UNKNOWN_CUSTOMER },
  "QualificationService.Qualify": { body: UNKNOWN_CUSTOMER },
  "QualificationService.QualifyVouchers": { body: UNKNOWN_CUSTOMER },
  "QualificationService.QualifyCampaigns": { body: UNKNOWN_CUSTOMER },
  "OrderService.CreateOrder": { body: UNKNOWN_CUSTOMER },
  "ProductService.CreateProduct": { body: { id: "prod_none" } },
  "PublicationService.CreatePublication": { body: { voucher: "none" } },
};

/** The id in the path is `none`, that of a project included, or the body refers to something unknown. */
export function notFoundCase(rpc: string, { segments }: Binding): ErrorCase {
  const { query, body } = UNKNOWN_REFERENCES[rpc] ?? {};
  const params = segments.flatMap((segment) =>
    segment.kind === "field" ? [[segment.field.name, "none"] as const] : [],
  );
  return {
    rpc,
    key: "not_found",
    request: {
      params: Object.fromEntries(params),
      ...(query !== undefined && { query }),
      body: Array.isArray(MINIMAL_BODIES[rpc])
        ? MINIMAL_BODIES[rpc]
        : { ...MINIMAL_BODIES[rpc], ...body },
    },
  };
}
