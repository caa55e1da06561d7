import type { Transport } from "@connectrpc/connect";
import { reserveIds } from "@scrip/idempotency";
import { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import { createCampaignActionsClient } from "./clients/campaign-actions.ts";
import { createCampaignsClient } from "./clients/campaigns.ts";
import { createCategoriesClient } from "./clients/categories.ts";
import { createCustomEventsClient } from "./clients/custom-events.ts";
import { createDueJobsClient } from "./clients/due-jobs.ts";
import { createEarningRulesClient } from "./clients/earning-rules.ts";
import { createHoldingsClient } from "./clients/holdings.ts";
import { createReferralTiersClient } from "./clients/referral-tiers.ts";
import { createRewardsClient } from "./clients/rewards.ts";
import { createSegmentsClient } from "./clients/segments.ts";
import { createUnitsClient } from "./clients/units.ts";
import { createValidationRulesClient } from "./clients/validation-rules.ts";
import { createVouchersClient } from "./clients/vouchers.ts";
import { createWebhooksClient } from "./clients/webhooks.ts";
import { storeRejections } from "./rejection.ts";
import type { CompositionDeps, Invoke, Target } from "./step.ts";
import { callSteps } from "./steps.ts";

export { compileCompletion, type CompleteResponse } from "./complete-response.ts";
export type { CompositionDeps, Invoke, Target } from "./step.ts";

/** Wraps the call of an endpoint in the steps that it needs; the first step is the outermost. */
export function composeCall(target: Target, invoke: Invoke, deps: CompositionDeps): Invoke {
  const compose = (steps: typeof callSteps, inner: Invoke): Invoke =>
    steps.reduceRight((next, { compile }) => compile(target, deps)?.(next) ?? next, inner);
  const settling = callSteps.findIndex(({ name }) => name === FIRST_WITHOUT_REJECTIONS);
  return storeRejections(target, {
    compose: (next) => compose(callSteps.slice(0, settling), next),
    invoke: compose(callSteps.slice(settling), invoke),
  });
}

/**
 * The first step from which on a rejection is sent to the owning service, which stores it or returns an earlier
 * response.
 */
const FIRST_WITHOUT_REJECTIONS = "assign-validation-rules";

export function createCompositionDeps(
  transports: ReadonlyMap<string, Transport>,
  {
    db,
    findSchemas,
    followProject,
  }: { readonly db: Queryable } & Pick<CompositionDeps, "findSchemas" | "followProject">,
): CompositionDeps {
  const campaigns = transports.get(CampaignService.typeName);
  const campaignActions = transports.get(CampaignActionService.typeName);
  const categories = transports.get(CategoryService.typeName);
  const rules = transports.get(ValidationRuleService.typeName);
  const products = transports.get(ProductService.typeName);
  const publications = transports.get(PublicationService.typeName);
  const vouchers = transports.get(VoucherService.typeName);
  const loyalty = transports.get(CustomerService.typeName);
  const rewards = transports.get(RewardService.typeName);
  const referralTiers = transports.get(ReferralTierService.typeName);
  const segments = transports.get(SegmentService.typeName);
  const customEvents = transports.get(CustomEventService.typeName);
  const webhooks = transports.get(WebhookService.typeName);
  return {
    campaigns: campaigns && createCampaignsClient(campaigns),
    campaignActions: campaignActions && createCampaignActionsClient(campaignActions),
    categories: categories && createCategoriesClient(categories),
    validationRules: rules && createValidationRulesClient(rules),
    units: products && createUnitsClient(products),
    holdings: publications && createHoldingsClient(publications),
    vouchers: vouchers && createVouchersClient(vouchers),
    rewards: rewards && createRewardsClient(rewards),
    segments: segments && createSegmentsClient(segments),
    referralTiers: referralTiers && createReferralTiersClient(referralTiers),
    customEvents: customEvents && createCustomEventsClient(customEvents),
    dueJobs: loyalty && createDueJobsClient(loyalty),
    earningRules: loyalty && createEarningRulesClient(loyalty),
    webhooks: webhooks && createWebhooksClient(webhooks),
    followProject,
    findSchemas,
    reserveIds: async ({ project, idempotency }) =>
      idempotency === undefined
        ? newId
        : reserveIds(db, {
            projectId: project.id,
            key: `${idempotency.key}>ids`,
            requestHash: idempotency.requestHash,
          }),
  };
}
