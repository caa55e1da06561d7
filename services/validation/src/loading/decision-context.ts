import { type Call, timeContextOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { collectionsToLoad, itemsToLoad } from "../domain/catalogue/items-to-load.ts";
import { countsToLoad } from "../domain/counts/rule-counts.ts";
import type { CustomerSnapshot } from "../domain/input/customer.ts";
import type { OrderSnapshot } from "../domain/input/order.ts";
import { referencedCategories } from "../domain/stacking/stacking-rules.ts";
import { assignmentIdsOf } from "../mapping/card.ts";
import { customerFromProto } from "../mapping/customer.ts";
import type {
  ResolvedRedeemables,
  RequestContext,
  DecisionContext,
} from "../mapping/decision-context.ts";
import { expandOf } from "../mapping/decision-input.ts";
import { orderFromProto } from "../mapping/order-input.ts";
import { type LoadedRedeemables, redeemablesFromProto } from "../mapping/redeemables.ts";
import { loadCards } from "./cards.ts";
import { loadCategories } from "./categories.ts";
import { loadCollectionIds } from "./collections.ts";
import { loadCounts, NOTHING_COUNTED } from "./counts.ts";
import { addCampaigns } from "./promotions.ts";
import { loadRuleData, NO_RULE_DATA, type RuleData } from "./rule-data.ts";
import { loadValidationRules } from "./validation-rules.ts";

/**
 * Loads what the decision needs beyond the redeemables themselves. A plain voucher only needs its
 * rules, which are cached; everything else is loaded only if a rule, discount or setting depends on
 * it, in batches.
 */
export async function loadDecisionContext(
  deps: Deps,
  call: Call,
  requestContext: RequestContext,
  resolved: ResolvedRedeemables,
): Promise<DecisionContext> {
  const { input, requestedCustomer, customer, storedOrder, stacking, trace, omits, storesOrder } =
    requestContext;
  const loaded = await loadRedeemables(deps, call, requestContext, resolved);
  const redeemables = redeemablesFromProto(loaded);
  const allRules = [...loaded.rules.values()].flat();
  const itemNames = itemsToLoad(redeemables);
  const needsAllCollections = storesOrder === true && input.order !== undefined;
  // Those that rules reference, and for stored orders all: earning rules measure the items of an order by collection.
  const collectionIds = [
    ...new Set([
      ...collectionsToLoad(allRules),
      ...(needsAllCollections ? await loadCollectionIds(deps, call) : []),
    ]),
  ];
  const ruleData =
    allRules.length === 0 && itemNames.length === 0 && collectionIds.length === 0
      ? NO_RULE_DATA
      : await loadRuleData(deps, call, requestContext, {
          rules: allRules,
          collectionIds,
          itemNames,
        });
  const order = input.order === undefined ? null : orderFromProto(input.order, storedOrder);
  const questions = {
    order: order && withCollections(order, ruleData.collections),
    customer: withMemberships(customerFromProto(requestedCustomer, customer), ruleData),
    time: timeContextOf(call),
    caller: { channelId: call.caller.id, userId: null },
    catalogue: ruleData.catalogue,
  };
  const countNames = omits === undefined ? countsToLoad(redeemables, questions) : [];
  const counts =
    countNames.length === 0 ? NOTHING_COUNTED : await loadCounts(deps, call, countNames);
  return {
    ...requestContext,
    ...resolved,
    promotions: loaded.promotions,
    cards: loaded.cards,
    categories: loaded.categories ?? NO_CATEGORIES,
    request: {
      redeemables,
      ...questions,
      metadata: input.metadata ?? {},
      stacking,
      counts,
      explain: trace,
      ...(omits !== undefined && { ignored: omits }),
    },
  };
}

/** Campaigns, rules, cards and (where needed) categories of the redeemables. */
async function loadRedeemables(
  deps: Deps,
  call: Call,
  requestContext: RequestContext,
  resolved: ResolvedRedeemables,
): Promise<LoadedRedeemables> {
  const vouchers = [...resolved.vouchers.values()].flatMap(({ voucher }) => voucher ?? []);
  const { campaigns: known, tiers } = resolved.promotions;
  const campaignIds = vouchers.flatMap(({ campaignId }) => campaignId ?? []);
  const cards = await loadCards(deps, call, {
    ...resolved,
    sessionKey: requestContext.input.session?.key,
  });
  const objectIds = [
    ...assignmentIdsOf(cards),
    ...vouchers.map(({ id }) => id),
    ...campaignIds,
    ...tiers.keys(),
    ...known.keys(),
  ];
  const categoryIds = vouchers.flatMap(({ categoryId }) => categoryId ?? []);
  const [campaigns, rules, categories] = await Promise.all([
    campaignIds.length === 0 ? known : addCampaigns(deps, call, { known, ids: campaignIds }),
    loadValidationRules(deps, call, objectIds),
    needsCategories(requestContext) ? loadCategories(deps, call, categoryIds) : null,
  ]);
  return {
    ...resolved,
    cards,
    promotions: { ...resolved.promotions, campaigns },
    rules,
    categories,
  };
}

const NO_CATEGORIES: DecisionContext["categories"] = new Map();

const withCollections = (
  order: OrderSnapshot,
  collections: RuleData["collections"],
): OrderSnapshot =>
  collections.length === 0
    ? order
    : {
        ...order,
        lines: order.lines.map((line, index) => ({
          ...line,
          collections: collections[index] ?? [],
        })),
      };

const withMemberships = (
  customer: CustomerSnapshot | null,
  { segments, loyaltyTiers }: RuleData,
): CustomerSnapshot | null => customer && { ...customer, segments, loyaltyTiers };

/**
 * Sorting by hierarchy and displaying categories need whole categories; stacking rules that name
 * categories need to know which were deleted.
 */
const needsCategories = ({ input, stacking }: RequestContext): boolean =>
  referencedCategories(stacking).length > 0 ||
  stacking.redeemablesSortingRule === "CATEGORY_HIERARCHY" ||
  expandOf(input).has("category");
