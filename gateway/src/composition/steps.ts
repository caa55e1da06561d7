import { assignToEarningRuleStep } from "./assign-to-earning-rule.ts";
import { assignValidationRulesStep } from "./assign-validation-rules.ts";
import { attachMetadataSchemasStep } from "./attach-metadata-schemas.ts";
import { completeReferralEventStep } from "./complete-referral-event.ts";
import { createVoucherInCampaignStep } from "./create-voucher-in-campaign.ts";
import { deleteAssignmentsStep } from "./delete-assignments.ts";
import { enforceMetadataSchemaStep } from "./enforce-metadata-schema.ts";
import { evictCachedCategoriesStep } from "./evict-cached-categories.ts";
import { followEarningRulesStep } from "./follow-earning-rules.ts";
import { followSegmentStep } from "./follow-segment.ts";
import { followWebhooksStep } from "./follow-webhooks.ts";
import { generateCampaignVouchersStep } from "./generate-campaign-vouchers.ts";
import { identifyProductsStep } from "./identify-products.ts";
import { loadValidationRuleStep } from "./load-validation-rule.ts";
import { rejectDeletionInUseStep } from "./reject-deletion-in-use.ts";
import { resolveCampaignStep } from "./resolve-campaign.ts";
import { resolveCategoryFilterStep } from "./resolve-category-filter.ts";
import { resolveCategoryStep } from "./resolve-category.ts";
import { resolveRequiredCampaignStep } from "./resolve-required-campaign.ts";
import { resolveRewardStep } from "./resolve-reward.ts";
import { resolveVoucherStep } from "./resolve-voucher.ts";
import { runDueJobsStep } from "./run-due-jobs.ts";
import type { CompileStep } from "./step.ts";
import { unassignFromEarningRuleStep } from "./unassign-from-earning-rule.ts";

export type StepDescription = {
  readonly name: string;
  readonly runs: "before the call" | "around the call" | "instead of the call" | "after the call";
  /** The option of the contract, or the RPC, that makes an endpoint need the step. */
  readonly appliesTo: string;
  readonly does: string;
  /** What a caller that uses gRPC directly gets from the owning service instead. */
  readonly directGrpc: string;
};

/**
 * Everything the gateway adds to a call because it needs two services, in the order in which it runs.
 * What one service can do alone belongs in that service (services/decisions/0004, 0010, 0011, 0019).
 */
export const callSteps: readonly (StepDescription & { readonly compile: CompileStep })[] = [
  {
    name: "enforce-metadata-schema",
    runs: "before the call",
    appliesTo: "fields with `rule.metadata`",
    does: "Rejects metadata that violates the project's metadata schemas (`metadata_validation_failed`).",
    directGrpc: "Metadata schemas are not enforced; gRPC callers are trusted.",
    compile: enforceMetadataSchemaStep,
  },
  {
    name: "attach-metadata-schemas",
    runs: "before the call",
    appliesTo: "requests with a field `metadata_schemas`",
    does: "Adds the project's metadata schemas, which the job of an import enforces item by item.",
    directGrpc: "Imports without `metadata_schemas` do not enforce any.",
    compile: attachMetadataSchemasStep,
  },
  {
    name: "reject-deletion-in-use",
    runs: "before the call",
    appliesTo: "`rule.deletes` of a segment",
    does: "Rejects the deletion while a validation rule or a referral tier names the segment (`resource_in_use`).",
    directGrpc:
      "The segment is deleted; call `ValidationRuleService.ListRulesReferencing` and `ReferralTierService.ListTiersNamingSegment` first.",
    compile: rejectDeletionInUseStep,
  },
  {
    name: "identify-products",
    runs: "before the call",
    appliesTo: "`REFERENCE_UNIT_TYPE`, `REFERENCE_PRODUCT` and `REFERENCE_SKU` in requests",
    does: "Rejects unit discounts and rewards of products and SKUs that do not exist (`invalid_payload`), and replaces source ids in rewards with ids.",
    directGrpc: "Services do not check that the product or SKU exists, and store what is sent.",
    compile: identifyProductsStep,
  },
  {
    name: "delete-assignments",
    runs: "after the call",
    appliesTo: "`rule.deletes` of a promotion tier, a reward assignment or a category",
    does: "Deletes the validation rule assignments of the deleted object, or its entries in stacking rules.",
    directGrpc:
      "Assignments stay listed until `DeleteValidationRule` or `RevokeRules` removes them.",
    compile: deleteAssignmentsStep,
  },
  {
    name: "resolve-required-campaign",
    runs: "before the call",
    appliesTo: "`REFERENCE_LOYALTY_PROGRAM` and `REFERENCE_REQUIRED_CAMPAIGN`",
    does: "Replaces the name of a campaign with its id; 404 when there is no such campaign.",
    directGrpc: "Services accept campaign ids only and do not check that the campaign exists.",
    compile: resolveRequiredCampaignStep,
  },
  {
    name: "resolve-campaign",
    runs: "before the call",
    appliesTo: "`REFERENCE_CAMPAIGN`",
    does: "Replaces the name of a campaign with its id; an unknown name is passed on unchanged.",
    directGrpc: "Services accept campaign ids only.",
    compile: resolveCampaignStep,
  },
  {
    name: "resolve-category",
    runs: "before the call",
    appliesTo: "`REFERENCE_CATEGORY_ID` and `REFERENCE_CATEGORY_NAME`",
    does: "Replaces the name of a category with its id and creates the category when the name is new; 404 for an unknown id.",
    directGrpc: "Services accept `category_id` only; `CategoryService` resolves names.",
    compile: resolveCategoryStep,
  },
  {
    name: "resolve-category-filter",
    runs: "before the call",
    appliesTo: "`REFERENCE_CATEGORY_FILTER`",
    does: "Moves the id or name of a category into `category_id`; an unknown category matches nothing.",
    directGrpc: "Services filter by `category_id` only.",
    compile: resolveCategoryFilterStep,
  },
  {
    name: "resolve-voucher",
    runs: "before the call",
    appliesTo: "`REFERENCE_VOUCHER`",
    does: "Loads the voucher with the code, and passes its id, type, campaign, holder and, of a referral code, what converts it; 404 for an unknown code.",
    directGrpc: "Services reject the code with `not_found`: pass the `voucher` beside it.",
    compile: resolveVoucherStep,
  },
  {
    name: "resolve-reward",
    runs: "before the call",
    appliesTo: "`REFERENCE_REWARD`",
    does: "Replaces `reward_id` with the campaign, type and amount of the reward; 404 for an unknown reward.",
    directGrpc: "Services require `related_object_parent`, `type` and `amount`.",
    compile: resolveRewardStep,
  },
  {
    name: "follow-segment",
    runs: "around the call",
    appliesTo: "`REFERENCE_SEGMENT`",
    does: "Rejects an unknown segment of a referral tier with 404; makes a `passive` one `auto-update` once the tier is written.",
    directGrpc:
      "The id is stored as it is sent; nobody is in an unknown segment, and a `passive` one stays so.",
    compile: followSegmentStep,
  },
  {
    name: "complete-referral-event",
    runs: "before the call",
    appliesTo: "`REFERENCE_REFERRAL_EVENT`",
    does: "Completes the `custom_event` of a referral program with its id and name; 404 for an unknown one, unless the project has no schemas.",
    directGrpc: "The event is stored as it is sent; pass the id and name.",
    compile: completeReferralEventStep,
  },
  {
    name: "load-validation-rule",
    runs: "before the call",
    appliesTo: "`REFERENCE_VALIDATION_RULE`",
    does: "Loads the validation rule and passes its conditions; 404 for an unknown rule.",
    directGrpc: "Services reject the rule with `not_found`: pass the `validation_rule` beside it.",
    compile: loadValidationRuleStep,
  },
  {
    name: "assign-validation-rules",
    runs: "around the call",
    appliesTo: "`REFERENCE_VALIDATION_RULES` beside `rule.reserves`",
    does: "Reserves the id of the new object and assigns its validation rules before it exists; removes the assignments when the call is rejected.",
    directGrpc:
      "Services reject `validation_rules`: create the object inactive, call `CreateAssignment`, then activate it.",
    compile: assignValidationRulesStep,
  },
  {
    name: "assign-to-earning-rule",
    runs: "instead of the call",
    appliesTo: "`ValidationRuleService.CreateAssignment` with an earning rule",
    does: "Calls `EarningRuleService.AssignValidationRule` with the conditions of the rule, because loyalty stores and evaluates it.",
    directGrpc: "Rejected with `not_found`; set `validation_rule_id` by `UpdateEarningRule`.",
    compile: assignToEarningRuleStep,
  },
  {
    name: "unassign-from-earning-rule",
    runs: "around the call",
    appliesTo: "`ValidationRuleService.DeleteAssignment`",
    does: "When the validation service does not know the assignment, calls `EarningRuleService.UnassignValidationRule`.",
    directGrpc: "Rejected with `not_found`; clear `validation_rule_id` by `UpdateEarningRule`.",
    compile: unassignFromEarningRuleStep,
  },
  {
    name: "create-voucher-in-campaign",
    runs: "instead of the call",
    appliesTo: "`VoucherService.CreateVoucher` with a campaign",
    does: "Calls `CampaignService.CreateVoucher`, because the campaign holds the voucher's template.",
    directGrpc: "Call `CampaignService.CreateVoucher`.",
    compile: createVoucherInCampaignStep,
  },
  {
    name: "generate-campaign-vouchers",
    runs: "instead of the call",
    appliesTo: "`CampaignService.CreateCampaignVouchers` with `vouchers_count` above 1",
    does: "Calls `CampaignActionService.GenerateCampaignVouchers`, which starts an async action; responds with 202 and its id.",
    directGrpc:
      "`CreateCampaignVouchers` creates up to 100 vouchers and returns the first; call `GenerateCampaignVouchers` for an async action.",
    compile: generateCampaignVouchersStep,
  },
  {
    name: "evict-cached-categories",
    runs: "after the call",
    appliesTo: "RPCs of `CategoryService` that write",
    does: "Drops the project's cached categories, so that responses show the change immediately.",
    directGrpc: "Not needed: services do not cache category names.",
    compile: evictCachedCategoriesStep,
  },
  {
    name: "run-due-jobs",
    runs: "after the call",
    appliesTo: "`ProjectService.SetClock`",
    does: "Runs the nightly jobs of the loyalty service that fell due at the new time.",
    directGrpc: "Not needed: the gateway itself serves the RPC.",
    compile: runDueJobsStep,
  },
  {
    name: "follow-webhooks",
    runs: "after the call",
    appliesTo: "`CreateWebhook`, `UpdateWebhook` and `DeleteWebhook`",
    does: "Stores in the project which events its webhooks receive, so that services publish these.",
    directGrpc: "Webhooks have management paths only, which the gateway serves.",
    compile: followWebhooksStep,
  },
  {
    name: "follow-earning-rules",
    runs: "after the call",
    appliesTo: "`CreateEarningRules`, `UpdateEarningRule` and `EnableEarningRule`",
    does: "Stores in the project that it has earning rules, so that services store the request and the API key with redemptions and paid orders.",
    directGrpc:
      "Done within about a second, when the event `EarningRulesFound` arrives; until then, pending points show the event itself as their cause.",
    compile: followEarningRulesStep,
  },
];

/** Runs last and apart from the others: stored responses need the response before and after it. */
const completeResponseStep: StepDescription = {
  name: "complete-response",
  runs: "after the call",
  appliesTo:
    "`REFERENCE_CATEGORIES`, `REFERENCE_RULES_ASSIGNMENTS`, `REFERENCE_UNIT_TYPE` and `REFERENCE_HOLDINGS`",
  does: "Fills in categories, validation rule assignments, the product or SKU of unit discounts, and the points and gift credits of customers.",
  directGrpc: "Responses hold ids; load the objects from the services that own them.",
};

export const compositionSteps: readonly StepDescription[] = [...callSteps, completeResponseStep];
