import type { Transport } from "@connectrpc/connect";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";

import { createCampaignsClient } from "./clients/campaigns.ts";
import { createCategoriesClient } from "./clients/categories.ts";
import { createHoldingsClient } from "./clients/holdings.ts";
import { createUnitsClient } from "./clients/units.ts";
import { createValidationRulesClient } from "./clients/validation-rules.ts";
import type { CompositionDeps, Invoke, Target } from "./step.ts";
import { callSteps } from "./steps.ts";

export { compileCompletion, type CompleteResponse } from "./complete-response.ts";
export type { CompositionDeps, Invoke, Target } from "./step.ts";

/** Wraps the call of an endpoint in the steps that it needs; the first step is the outermost. */
export function composeCall(target: Target, invoke: Invoke, deps: CompositionDeps): Invoke {
  return callSteps.reduceRight(
    (next, { compile }) => compile(target, deps)?.(next) ?? next,
    invoke,
  );
}

export function createCompositionDeps(
  transports: ReadonlyMap<string, Transport>,
  findSchemas: CompositionDeps["findSchemas"],
): CompositionDeps {
  const campaigns = transports.get(CampaignService.typeName);
  const categories = transports.get(CategoryService.typeName);
  const rules = transports.get(ValidationRuleService.typeName);
  const products = transports.get(ProductService.typeName);
  const publications = transports.get(PublicationService.typeName);
  return {
    campaigns: campaigns && createCampaignsClient(campaigns),
    categories: categories && createCategoriesClient(categories),
    validationRules: rules && createValidationRulesClient(rules),
    units: products && createUnitsClient(products),
    holdings: publications && createHoldingsClient(publications),
    findSchemas,
  };
}
