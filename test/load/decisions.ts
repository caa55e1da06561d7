import type { Api, Body } from "./api.ts";
import { setStackingRules } from "./api.ts";
import { createRule } from "./fixtures.ts";
import { cpuSecondsOf } from "./machine.ts";
import { type Bench, run, settle } from "./running.ts";
import { median } from "./statistics.ts";

/** The size of a validation. */
export type DecisionCase = {
  readonly redeemables: number;
  /** Rules of each redeemable. */
  readonly rules: number;
  readonly lines: number;
};

export type DecisionRate = DecisionCase & {
  readonly perSecond: number;
  readonly p50Ms: number;
  /** Processor time of Node and Postgres per validation. */
  readonly cpuMicroseconds: number;
};

export type Decisions = readonly DecisionRate[];

const MOST_REDEEMABLES = 30;
const RULES = 10;
const CUSTOMERS = 100;

const CASES: readonly DecisionCase[] = [
  ...[1, 5, MOST_REDEEMABLES].flatMap((redeemables) =>
    [0, RULES].map((rules) => ({ redeemables, rules, lines: 3 })),
  ),
  ...[1, 5].map((redeemables) => ({ redeemables, rules: 0, lines: 100 })),
];

/** Measures validations of stacks over HTTP, the sizes in alternating rounds. */
export async function measureDecisions(bench: Bench): Promise<Decisions> {
  const { plan, fixtures, log } = bench;
  log("measuring validations by redeemables, rules and lines");
  await setStackingRules(bench.standalone, {
    applicable_redeemables_limit: MOST_REDEEMABLES,
    applicable_redeemables_per_category_limit: MOST_REDEEMABLES,
  });
  const rules = await createRules(fixtures.api);
  const codes = {
    plain: await createVouchers(fixtures.api, "STACK", []),
    ruled: await createVouchers(fixtures.api, "STRICT", rules),
  };
  const bodies = CASES.map((each) => bodiesOf(each, each.rules > 0 ? codes.ruled : codes.plain));
  const rounds: Pick<DecisionRate, "perSecond" | "p50Ms" | "cpuMicroseconds">[][] = CASES.map(
    () => [],
  );
  // The first round warms up and is not counted.
  for (let round = 0; round <= plan.validationRounds; round += 1) {
    for (const [index, body] of bodies.entries()) {
      const rate = await measureOne(bench, body);
      if (round > 0) rounds[index]?.push(rate);
    }
  }
  return CASES.map((each, index) => {
    const own = rounds[index] ?? [];
    return {
      ...each,
      perSecond: median(own.map(({ perSecond }) => perSecond)),
      p50Ms: median(own.map(({ p50Ms }) => p50Ms)),
      cpuMicroseconds: median(own.map(({ cpuMicroseconds }) => cpuMicroseconds)),
    };
  });
}

async function measureOne(bench: Bench, body: Body) {
  const { plan, fixtures, standalone, postgres } = bench;
  await settle(bench);
  const used = (): number => cpuSecondsOf(standalone.pid) + postgres.cpuSeconds();
  const before = used();
  const { statuses, successesPerSecond, p50Ms } = await run(bench, {
    ...fixtures.api.request({ before: "/v1/validations", after: "" }, body),
    codes: [],
    connections: Math.min(...plan.clients),
    seconds: plan.validationSeconds,
    ratePerSecond: null,
  });
  return {
    perSecond: successesPerSecond,
    p50Ms,
    cpuMicroseconds: (1e6 * (used() - before)) / (statuses["200"] ?? 0),
  };
}

/** Most read the order or the customer; one counts redemptions. All of them match. */
const createRules = (api: Api): Promise<string[]> =>
  Promise.all(
    Array.from({ length: RULES }, (_, index) => {
      if (index === 0) {
        return createRule(api, "redemption.count.per_customer", { $less_than_or_equal: [1_000] });
      }
      return index % 2 === 0
        ? createRule(api, "order.amount", { $more_than_or_equal: [100 + index] })
        : createRule(api, "order.items.count", { $more_than_or_equal: [1 + (index % 3)] });
    }),
  );

async function createVouchers(
  api: Api,
  name: string,
  rules: readonly string[],
): Promise<readonly string[]> {
  const codes = Array.from({ length: MOST_REDEEMABLES }, (_, index) => `${name}-${index}`);
  for (const code of codes) {
    await api.create("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      // On each line, so that every line is calculated.
      discount: { type: "PERCENT", percent_off: 1, effect: "APPLY_TO_ITEMS" },
      validation_rules: rules,
    });
  }
  return codes;
}

/** One body for each of several customers, all of the same length. */
const bodiesOf = (
  { redeemables, lines }: DecisionCase,
  codes: readonly string[],
): readonly string[] =>
  Array.from({ length: CUSTOMERS }, (_, customer) =>
    JSON.stringify({
      redeemables: codes.slice(0, redeemables).map((id) => ({ object: "voucher", id })),
      order: {
        items: Array.from({ length: lines }, (_item, line) => ({
          product_id: `prod_${line}`,
          quantity: 1 + (line % 3),
          price: 1_999,
        })),
      },
      customer: { source_id: `bench-customer-${String(customer).padStart(4, "0")}` },
    }),
  );
