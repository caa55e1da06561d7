/**
 * Measures decisions per second of the pure engine: parsed rules and loaded input in, figures and
 * guards out. Run: node services/validation/bench/decide.ts
 */
import { decide } from "../src/domain/decide.ts";
import { type DecisionRequest } from "../src/domain/decision/decision-request.ts";
import type { LineSnapshot } from "../src/domain/input/order.ts";
import type { VoucherSnapshot } from "../src/domain/input/voucher.ts";
import {
  buildCampaign,
  buildCustomer,
  buildDiscountVoucher,
  buildLine,
  buildOrder,
  buildRule,
  percentOff,
  voucherRedeemable,
  buildRequest,
} from "../test/builders.ts";

const SECONDS = Number(process.env["SECONDS"] ?? 1);
const BATCH = 20;

const customer = buildCustomer({ id: "cust_1", segments: ["seg_1"], metadata: { age: 30 } });
const campaign = buildCampaign();

/** Builds `count` rules that alternate between two conditions and a usage count. */
const rulesOf = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    n % 2 === 0
      ? buildRule(`val_${n}`, {
          1: { name: "order.amount", conditions: { $more_than_or_equal: [1000 + n] } },
          2: { name: "customer.segment", conditions: { $in: ["seg_1", "seg_2"] } },
          logic: "1 AND 2",
        })
      : buildRule(`val_${n}`, {
          1: {
            name: "redemption.count.per_customer",
            conditions: { $less_than_or_equal: [5 + n] },
          },
          2: { name: "order.items.any", conditions: { $is: ["prod_1", "prod_2"] } },
        }),
  );

const linesOf = (count: number): LineSnapshot[] =>
  Array.from({ length: count }, (_, n) =>
    buildLine({ productId: `prod_${n}`, quantity: BigInt(n % 5) + 1n, prices: { line: 1999n } }),
  );

const requestFor = (
  { redeemables, rules, lines }: { redeemables: number; rules: number; lines: number },
  more: Partial<DecisionRequest> = {},
): DecisionRequest =>
  buildRequest({
    redeemables: Array.from({ length: redeemables }, (_, n) =>
      voucherRedeemable(voucherOf(n, rules)),
    ),
    order: buildOrder({ lines: linesOf(lines) }),
    customer,
    ...more,
    stacking: {
      ...buildRequest({}).stacking,
      applicableRedeemablesLimit: 30,
      applicableRedeemablesPerCategoryLimit: 30,
    },
  });

const voucherOf = (n: number, rules: number): VoucherSnapshot =>
  buildDiscountVoucher(`CODE${n}`, percentOff("1"), {
    campaign,
    quantity: 100n,
    rules: rulesOf(rules),
  });

const cases: readonly (readonly [string, DecisionRequest])[] = [
  ["1 voucher, 3 lines, 0 rules", requestFor({ redeemables: 1, rules: 0, lines: 3 })],
  ["1 voucher, 3 lines, 2 rules", requestFor({ redeemables: 1, rules: 2, lines: 3 })],
  ["  and its explanation", requestFor({ redeemables: 1, rules: 2, lines: 3 }, { explain: true })],
  ["1 voucher, 3 lines, 10 rules", requestFor({ redeemables: 1, rules: 10, lines: 3 })],
  ["1 voucher, 100 lines, 2 rules", requestFor({ redeemables: 1, rules: 2, lines: 100 })],
  ["5 vouchers, 3 lines, 2 rules", requestFor({ redeemables: 5, rules: 2, lines: 3 })],
  ["30 vouchers, 3 lines, 2 rules", requestFor({ redeemables: 30, rules: 2, lines: 3 })],
  ["30 vouchers, 100 lines, 10 rules", requestFor({ redeemables: 30, rules: 10, lines: 100 })],
];

for (const [name, request] of cases) {
  const decision = decide(request);
  if (decision.kind !== "decided" || !decision.valid) throw new Error(`${name} is not applicable`);
  rateOf(request, 0.2);
  console.log(`${name.padEnd(34)} ${String(Math.round(rateOf(request, SECONDS))).padStart(8)}/s`);
}

/** Decisions per second of thread CPU time, so that other load does not matter. */
function rateOf(request: DecisionRequest, seconds: number): number {
  const start = cpuSeconds();
  let decisions = 0;
  while (cpuSeconds() - start < seconds) {
    for (let n = 0; n < BATCH; n += 1) decide(withNewOrder(request));
    decisions += BATCH;
  }
  return decisions / (cpuSeconds() - start);
}

/** A copy of the order, so that caches by order do not help the next decision. */
function withNewOrder(request: DecisionRequest): DecisionRequest {
  return { ...request, order: request.order && { ...request.order } };
}

function cpuSeconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000_000;
}
