/** Determines the key of the error (docs/validation-rules.md#rejections). */
export type RuleClass = "customer" | "order" | "redemption";

/** The type of the compared value, which determines the valid operators. */
export type RuleOperand = "number" | "any" | "ids" | "boolean" | "items";

export type RuleTraits = {
  readonly class: RuleClass;
  readonly operand: RuleOperand;
  /** What the request must contain for the rule to be evaluated. */
  readonly needs?: "customer" | "order";
  /** Reads one key of metadata, named by `property`. */
  readonly hasProperty?: true;
  /** Known only after the effect of the redeemable is calculated. */
  readonly isAfterEffect?: true;
  /** Valid only as a sub-rule of these, for the lines that they match. */
  readonly under?: readonly string[];
};

const customer = { class: "customer", needs: "customer" } as const;
const order = { class: "order" } as const;
const money = { ...order, operand: "number", needs: "order" } as const;
const redemption = { class: "redemption" } as const;
const count = { ...redemption, operand: "number" } as const;
const customerCount = { ...count, needs: "customer" } as const;
const metadata = { operand: "any", hasProperty: true } as const;

const ITEM_RULES = [
  "order.items.any",
  "order.items.every",
  "order.items.none",
  "order.items.cheapest",
  "order.items.most_expensive",
  "product.id",
  "sku.id",
  "product.metadata",
] as const;
const ofItems = { ...order, operand: "number", under: ITEM_RULES } as const;
const productFlag = { ...order, operand: "boolean", under: ["product.id"] } as const;
const ofProductMetadata = { ...order, operand: "number", under: ["product.metadata"] } as const;

/** Every name of a rule (docs/validation-rules.md#rule-names). */
export const RULE_TRAITS = {
  "customer.segment": { ...customer, operand: "ids" },
  "customer.metadata": { ...customer, ...metadata },
  "customer.loyalty.tier": { ...customer, operand: "ids" },

  "order.amount": money,
  "order.initial_amount": money,
  "order.total_amount": { ...money, isAfterEffect: true },
  "order.metadata": { ...order, ...metadata },
  "order.items.count": { ...order, operand: "number" },
  "order.items.price_any": { ...order, operand: "number" },
  "order.items.price_each": { ...order, operand: "number" },
  "order.items.metadata_any": { ...order, ...metadata },
  "order.items.metadata_each": { ...order, ...metadata },

  "order.items.any": { ...order, operand: "items" },
  "order.items.every": { ...order, operand: "items" },
  "order.items.none": { ...order, operand: "items" },
  "order.items.cheapest": { ...order, operand: "items" },
  "order.items.most_expensive": { ...order, operand: "items" },
  "order.items.quantity": ofItems,
  "order.items.price": ofItems,
  "order.items.metadata": { ...order, ...metadata, under: ITEM_RULES },
  "order.items.aggregated_quantity": ofItems,
  "order.items.aggregated_amount": ofItems,

  "product.id": { ...order, operand: "items" },
  "product.quantity": { ...ofItems, under: ["product.id"] },
  "product.price": { ...ofItems, under: ["product.id"] },
  "product.discount_applicable": productFlag,
  "sku.id": { ...order, operand: "items" },
  "sku.quantity": { ...ofItems, under: ["sku.id"] },
  "sku.price": { ...ofItems, under: ["sku.id"] },
  "sku.discount_applicable": { ...productFlag, under: ["sku.id"] },
  "product.metadata": { ...order, ...metadata },
  "product.metadata.aggregated_quantity": ofProductMetadata,
  "product.metadata.aggregated_amount": ofProductMetadata,
  "product.metadata.discount_applicable": { ...productFlag, under: ["product.metadata"] },
  "product.metadata.match_all": { ...productFlag, under: ["product.metadata"] },

  "campaign.redemptions.count": count,
  "campaign.redemptions.count.daily": count,
  "campaign.redemptions.count.weekly": count,
  "campaign.redemptions.count.monthly": count,
  "campaign.redemptions.customers_count": customerCount,
  "campaign.redemptions.customers_count.daily": customerCount,
  "campaign.redemptions.customers_count.weekly": customerCount,
  "campaign.redemptions.customers_count.monthly": customerCount,
  "campaign.orders.amount": { ...count, isAfterEffect: true },
  "campaign.orders.amount_discounted": { ...count, isAfterEffect: true },

  "redemption.count.daily": count,
  "redemption.count.weekly": count,
  "redemption.count.monthly": count,
  "redemption.count.per_customer": customerCount,
  "redemption.count.per_customer.daily": customerCount,
  "redemption.count.per_customer.weekly": customerCount,
  "redemption.count.per_customer.monthly": customerCount,
  "redemption.count.per_api_key": count,
  "redemption.count.per_user": count,
  "redemption.gift.amount": { ...count, isAfterEffect: true },
  "redemption.reward.pay_with_points.points_used": { ...count, isAfterEffect: true },
  "redemption.metadata": { ...redemption, ...metadata },
  "redemption.api_key": { ...redemption, operand: "ids" },
  "redemption.user.login": { ...redemption, operand: "ids" },
  "publication.redeemable_by_linked_customer": {
    ...redemption,
    operand: "boolean",
    needs: "customer",
  },

  "custom_event.metadata": { ...redemption, ...metadata },
} as const satisfies Record<string, RuleTraits>;

export type RuleName = keyof typeof RULE_TRAITS;

export const RULE_NAMES: readonly RuleName[] = Object.keys(RULE_TRAITS) as RuleName[];

/** Older names that clients still send. */
const ALIASES: Readonly<Record<string, RuleName>> = { customer_segment: "customer.segment" };

/** The rule with this name; undefined if there is none. */
export const ruleNameOf = (name: string): RuleName | undefined => {
  if (isRuleName(name)) return name;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
};

export const isRuleName = (name: string): name is RuleName => Object.hasOwn(RULE_TRAITS, name);

export const traitsOf = (name: RuleName): RuleTraits => RULE_TRAITS[name];
