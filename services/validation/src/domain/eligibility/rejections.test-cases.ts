import {
  NOW,
  buildCampaign,
  buildCustomer,
  buildScopeEntry,
  buildGiftCard,
  buildLines,
  buildOrder,
  buildRule,
  buildTier,
  buildVoucher,
  buildSingleRule,
  voucherRedeemable,
  tierRedeemable,
  unlimited,
} from "../../../test/builders.ts";
import type { DecisionRequest } from "../decision/decision-request.ts";
import type { TierSnapshot, VoucherSnapshot } from "../input/voucher.ts";
import type { Rejection } from "../rejections/rejection.ts";

const code = (voucher: Partial<VoucherSnapshot>, request = {}) =>
  voucherRedeemable(buildVoucher(voucher), request);
const tier = (snapshot: Partial<TierSnapshot>) => tierRedeemable(buildTier(snapshot));
const order = buildOrder({ amount: 10_000n });
const day = 86_400_000;
const ended = { ...unlimited, expirationDate: NOW - 1 };
const later = { ...unlimited, startDate: NOW + day };
const sundays = { ...unlimited, daysOfWeek: [0] };
const details = (label: string, ...ids: readonly string[]) =>
  `${label} cannot be redeemed because of violated validation rules: ${ids.join(", ")}`;
const vip = buildSingleRule("customer.segment", { $is: ["seg_vip"] });
const big = buildSingleRule("order.amount", { $more_than: [20_000] });
const once = buildSingleRule("redemption.count.per_customer", { $less_than_or_equal: [0] });
const friend = { isReferralCode: true, holderId: "cust_1" } as const;

/** Every rejection of a single redeemable. docs/errors.md#keys */
export const rejections: readonly (readonly [
  what: string,
  request: Partial<DecisionRequest>,
  rejection: Rejection,
])[] = [
  [
    "an unknown code",
    { redeemables: [{ ...voucherRedeemable(buildVoucher()), id: "NOPE", voucher: null }] },
    {
      key: "not_found",
      details: "Cannot find voucher with id NOPE",
      resourceId: "NOPE",
      resourceType: "voucher",
    },
  ],
  ...(["promotion_tier", "promotion_stack"] as const).map((object): (typeof rejections)[number] => [
    `an unknown ${object}`,
    { redeemables: [{ object, id: "x_1", tier: null }] },
    {
      key: "not_found",
      details: `Cannot find ${object} with id x_1`,
      resourceId: "x_1",
      resourceType: object,
    },
  ]),
  [
    "an inactive voucher",
    { redeemables: [code({ active: false })] },
    { key: "voucher_disabled", details: "CODE" },
  ],
  [
    "an inactive campaign",
    { redeemables: [code({ campaign: buildCampaign({ active: false }) })] },
    { key: "voucher_disabled", details: "CODE" },
  ],
  [
    "an expired voucher",
    { redeemables: [code({ validity: ended })] },
    { key: "voucher_expired", details: "CODE" },
  ],
  [
    "an expired campaign of a voucher without expiration date",
    { redeemables: [code({ campaign: buildCampaign({ validity: ended }) })] },
    { key: "voucher_expired", details: "CODE" },
  ],
  [
    "a voucher before its start date",
    { redeemables: [code({ validity: later })] },
    { key: "voucher_not_active", details: "CODE" },
  ],
  [
    "a campaign before its start date",
    { redeemables: [code({ campaign: buildCampaign({ validity: later }) })] },
    { key: "voucher_not_active", details: "CODE" },
  ],
  [
    "another weekday",
    { redeemables: [code({ validity: sundays })] },
    { key: "voucher_not_active_now", details: "CODE" },
  ],
  [
    "an exhausted voucher",
    { redeemables: [code({ quantity: 1n, redeemedQuantity: 1n })] },
    { key: "quantity_exceeded", details: "CODE" },
  ],
  [
    "a voucher locked by sessions",
    { redeemables: [code({ quantity: 2n, redeemedQuantity: 1n, lockedQuantity: 1n })] },
    { key: "quantity_exceeded", details: "CODE" },
  ],
  [
    "a referral code without a holder",
    { redeemables: [code({ isReferralCode: true })], customer: buildCustomer({ id: "cust_2" }) },
    { key: "not_published", details: "CODE" },
  ],
  [
    "a referral code without a customer",
    { redeemables: [code(friend)] },
    { key: "invalid_customer", details: "CODE" },
  ],
  [
    "a referral code used by its holder",
    { redeemables: [code(friend)], customer: buildCustomer({ id: "cust_1" }) },
    { key: "referrer_not_permitted_to_redeem", details: "CODE" },
  ],
  [
    "a rule about customers",
    { redeemables: [code({ rules: [vip] })], customer: buildCustomer() },
    { key: "customer_rules_violated", details: details("Discount Coupon", "val_1") },
  ],
  [
    "a rule about the order",
    { redeemables: [code({ rules: [big] })], order },
    { key: "order_rules_violated", details: details("Discount Coupon", "val_1") },
  ],
  [
    "a rule about redemptions",
    { redeemables: [code({ rules: [once] })], customer: buildCustomer() },
    { key: "redemption_rules_violated", details: details("Discount Coupon", "val_1") },
  ],
  [
    "rules of the code and of its campaign, with the key of the first",
    {
      redeemables: [
        code({ rules: [big], campaign: buildCampaign({ rules: [{ ...vip, id: "val_2" }, big] }) }),
      ],
      customer: buildCustomer(),
      order,
    },
    { key: "order_rules_violated", details: details("Discount Coupon", "val_1", "val_2") },
  ],
  [
    "a rule with the merchant's message of a condition",
    {
      redeemables: [
        code({
          rules: [
            buildSingleRule("order.amount", { $is: [1] }, { error: { message: "Only one" } }),
          ],
        }),
      ],
      order,
    },
    {
      key: "order_rules_violated",
      details: details("Discount Coupon", "val_1"),
      customMessage: "Only one",
    },
  ],
  [
    "a rule with a message of its own",
    { redeemables: [code({ rules: [{ ...big, message: "Buy more" }] })], order },
    {
      key: "order_rules_violated",
      details: details("Discount Coupon", "val_1"),
      customMessage: "Buy more",
    },
  ],
  [
    "a rule of a gift card",
    {
      redeemables: [voucherRedeemable({ ...buildGiftCard({ balance: 1n }), rules: [big] })],
      order,
    },
    { key: "order_rules_violated", details: details("Gift Card", "val_1") },
  ],
  [
    "a rule of a loyalty card",
    {
      redeemables: [
        code({ value: { type: "LOYALTY_CARD", balance: 1n, lockedPoints: 0n }, rules: [big] }),
      ],
      order,
    },
    { key: "order_rules_violated", details: details("Loyalty Card", "val_1") },
  ],
  [
    "a rule about the amount left to pay",
    {
      redeemables: [
        code({ rules: [buildSingleRule("order.total_amount", { $more_than: [9000] })] }),
      ],
      order,
    },
    { key: "order_rules_violated", details: details("Discount Coupon", "val_1") },
  ],
  [
    "a rule about a customer without one in the request",
    { redeemables: [code({ rules: [vip] })], order },
    { key: "missing_customer", details: "Customer is required to validate rules" },
  ],
  [
    "a rule about an order without one in the request",
    { redeemables: [code({ rules: [big] })] },
    { key: "missing_amount", details: "Order is required to validate rules" },
  ],
  [
    "bundles that the order does not contain",
    {
      redeemables: [
        code({
          rules: [
            buildRule(
              "val_b",
              {},
              { bundleRules: { 1: { name: "order.items.any", conditions: { $is: ["prod_1"] } } } },
            ),
          ],
        }),
      ],
      order,
    },
    { key: "order_rules_violated", details: details("Discount Coupon", "val_b") },
  ],
  [
    "more credits than the balance",
    { redeemables: [voucherRedeemable(buildGiftCard({ balance: 5n }), { credits: 6n })], order },
    { key: "gift_amount_exceeded", details: "CODE" },
  ],
  [
    "more credits than sessions have left unlocked",
    {
      redeemables: [
        voucherRedeemable(buildGiftCard({ balance: 5n, lockedCredits: 2n }), { credits: 4n }),
      ],
      order,
    },
    { key: "gift_amount_exceeded", details: "CODE" },
  ],
  [
    "a gift card for items without matching items",
    {
      redeemables: [
        voucherRedeemable({
          ...buildGiftCard({ balance: 5n, effect: "APPLY_TO_ITEMS" }),
          rules: [
            buildRule(
              "val_1",
              {},
              { applicableTo: { included: [buildScopeEntry()], excluded: [], includedAll: false } },
            ),
          ],
        }),
      ],
      order: buildOrder({ lines: buildLines([1n, 1000n]) }),
    },
    {
      key: "missing_order_items_amount",
      details:
        "At least one applicable order item with amount is required to redeem this GIFT_VOUCHER",
    },
  ],
  [
    "a loyalty card without a reward",
    {
      redeemables: [code({ value: { type: "LOYALTY_CARD", balance: 1n, lockedPoints: 0n } })],
      order,
    },
    { key: "missing_reward", details: "A reward is required when redeeming a LOYALTY_CARD" },
  ],
  [
    "an inactive tier",
    { redeemables: [tier({ active: false })] },
    { key: "promotion_inactive", details: "Promotion Tier with id: promo_1 is disabled." },
  ],
  [
    "a tier of an inactive campaign",
    { redeemables: [tier({ campaign: buildCampaign({ active: false }) })] },
    { key: "promotion_inactive", details: "Promotion Tier with id: promo_1 is disabled." },
  ],
  ...(
    [
      ["a tier before its start date", { validity: later }],
      ["a tier on another weekday", { validity: sundays }],
      ["a tier of an expired campaign", { campaign: buildCampaign({ validity: ended }) }],
      [
        "a tier that expires after its campaign",
        {
          validity: { ...unlimited, expirationDate: NOW + day },
          campaign: buildCampaign({ validity: ended }),
        },
      ],
    ] as const
  ).map(([what, snapshot]): (typeof rejections)[number] => [
    what,
    { redeemables: [tier(snapshot)] },
    {
      key: "promotion_not_active_now",
      details: "Promotion Tier with id: promo_1 is not active now.",
    },
  ]),
  [
    "a rule of a tier",
    { redeemables: [tier({ rules: [big] })], order },
    { key: "order_rules_violated", details: details("Promotion Tier", "val_1") },
  ],
];
