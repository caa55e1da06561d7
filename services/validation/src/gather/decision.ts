import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { CommitOutcome, GatheredVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CatalogueLine } from "../domain/collections.ts";
import type { DecisionRequest } from "../domain/decide.ts";
import type { CustomerFacts, OrderFacts } from "../domain/facts.ts";
import { neededCounts } from "../domain/rule-counts.ts";
import { neededCollections } from "../domain/rule-needs.ts";
import { categoriesNamed, type StackingRules } from "../domain/stacking-rules.ts";
import { neededItems } from "../domain/units.ts";
import { type Asked, expandOf, type Ref } from "./asked.ts";
import { gatherCategories } from "./categories.ts";
import { gatherCounts, NOTHING_COUNTED } from "./counts.ts";
import { customerFacts } from "./customer-facts.ts";
import { gatherVouchers } from "./gather.ts";
import { orderFacts } from "./order-facts.ts";
import {
  expandStacks,
  gatherPromotions,
  namesPromotion,
  NO_PROMOTIONS,
  type Promotions,
  withCampaigns,
} from "./promotions.ts";
import { redeemablesOf } from "./redeemables.ts";
import { gatherRuleFacts, NO_RULE_FACTS, type RuleFacts } from "./rule-facts.ts";
import { gatherRules } from "./rules.ts";

/** The redeemables of a request as they are stored: read again each time it is decided. */
export type Named = {
  /** Stacks are replaced by their tiers. */
  readonly refs: readonly Ref[];
  /** By the code or id that was sent. */
  readonly vouchers: ReadonlyMap<string, GatheredVoucher>;
  readonly promotions: Promotions;
  /** What the idempotency key was answered before. */
  readonly earlier: CommitOutcome | undefined;
};

export async function gatherNamed(
  deps: Deps,
  call: Call,
  { redeemables, session }: Pick<Asked, "redeemables" | "session">,
): Promise<Named> {
  const codes = redeemables.flatMap(({ object, id }) => (object === "voucher" ? [id] : []));
  const [{ vouchers, earlier }, promotions] = await Promise.all([
    gatherVouchers(deps, call, { codes, sessionKey: session?.key }),
    namesPromotion(redeemables) ? gatherPromotions(deps, call, redeemables) : NO_PROMOTIONS,
  ]);
  return {
    refs: expandStacks(redeemables, promotions),
    vouchers: new Map(vouchers.map((voucher, index) => [codes[index] ?? "", voucher])),
    promotions,
    earlier,
  };
}

/** What stays the same however often a request is decided. */
export type Circumstances = {
  readonly asked: Asked;
  readonly said: Customer | undefined;
  readonly customer: StoredCustomer | undefined;
  readonly stored: Order | null;
  /** What the catalogue knows of the lines of the order. */
  readonly lines: readonly CatalogueLine[];
  readonly stacking: StackingRules;
  /** Whether to tell how it was decided. */
  readonly trace: boolean;
};

/** What a decision was made on, and what its answer is written from. */
export type Gathered = Circumstances &
  Named & {
    readonly request: DecisionRequest;
    /** Of the redeemables, by id; only where the answer shows them or their hierarchy counts. */
    readonly categories: ReadonlyMap<string, Category>;
  };

/**
 * Completes what was found to what a decision needs. A plain voucher asks for nothing more here but
 * its rules, which are remembered; each of the other questions is asked only when something depends
 * on it, and all of one kind travel together.
 */
export async function gatherDecision(
  deps: Deps,
  call: Call,
  circumstances: Circumstances,
  named: Named,
): Promise<Gathered> {
  const { asked, said, customer, stored, stacking, trace } = circumstances;
  const vouchers = [...named.vouchers.values()].flatMap(({ voucher }) => voucher ?? []);
  const campaignIds = vouchers.flatMap(({ campaignId }) => campaignId ?? []);
  const knowsCategories = needsCategories(circumstances);
  const categoryIds = knowsCategories ? vouchers.flatMap(({ categoryId }) => categoryId ?? []) : [];
  const [campaigns, rules, categories] = await Promise.all([
    campaignIds.length === 0
      ? named.promotions.campaigns
      : withCampaigns(deps, call, { known: named.promotions.campaigns, ids: campaignIds }),
    gatherRules(deps, call, [
      ...vouchers.map(({ id }) => id),
      ...campaignIds,
      ...named.promotions.tiers.keys(),
      ...named.promotions.campaigns.keys(),
    ]),
    categoryIds.length === 0 ? NO_CATEGORIES : gatherCategories(deps, call, categoryIds),
  ]);
  const promotions = { ...named.promotions, campaigns };
  const redeemables = redeemablesOf({
    ...named,
    promotions,
    rules,
    categories: knowsCategories ? categories : null,
  });
  const allRules = [...rules.values()].flat();
  const itemNames = neededItems(redeemables);
  const facts =
    allRules.length === 0 && itemNames.length === 0
      ? NO_RULE_FACTS
      : await gatherRuleFacts(deps, call, circumstances, {
          rules: allRules,
          collectionIds: neededCollections(allRules),
          itemNames,
        });
  const order = asked.order === undefined ? null : orderFacts(asked.order, stored);
  const questions = {
    order: order && withCollections(order, facts.collections),
    customer: withMemberships(customerFacts(said, customer), facts),
    moment: { now: call.now, timeZone: call.project.timeZone },
    caller: { channelId: call.caller.id, userId: null },
    catalogue: facts.catalogue,
  };
  const countNames = neededCounts(redeemables, questions);
  const counts =
    countNames.length === 0 ? NOTHING_COUNTED : await gatherCounts(deps, call, countNames);
  return {
    ...circumstances,
    ...named,
    promotions,
    categories,
    request: {
      redeemables,
      ...questions,
      metadata: asked.metadata ?? {},
      stacking,
      counts,
      trace,
    },
  };
}

const NO_CATEGORIES: Gathered["categories"] = new Map();

const withCollections = (order: OrderFacts, collections: RuleFacts["collections"]): OrderFacts =>
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
  customer: CustomerFacts | null,
  { segments, loyaltyTiers }: RuleFacts,
): CustomerFacts | null => customer && { ...customer, segments, loyaltyTiers };

/**
 * Whoever sorts by hierarchy or shows categories has to know more of them than their ids; and where
 * rules name categories, one that was deleted must not count.
 */
const needsCategories = ({ asked, stacking }: Circumstances): boolean =>
  categoriesNamed(stacking).length > 0 ||
  stacking.redeemablesSortingRule === "CATEGORY_HIERARCHY" ||
  expandOf(asked).has("category");
