import { parseTierPolicy } from "@scrip/rules";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { addDays } from "../local-date.ts";
import {
  advanceTo,
  followEntry,
  recalculateExpiry,
  requalify,
  type TierChange,
  type TierEntry,
  type TierProgram,
  type TierState,
} from "./follow-ledger.ts";
import { startOfNextTierPeriod, tierExpiry } from "./tier-dates.ts";
import { mappedPrice, mappedRatio, overlappingTiers, qualifiedTier, type Tier } from "./tier.ts";

const policyOf = (json: object) => {
  const parsed = parseTierPolicy(json as Readonly<Record<string, unknown>>);
  if ("violation" in parsed) throw new Error(parsed.violation);
  return parsed.policy;
};
const monthly = (type: string, extend?: string) =>
  policyOf({
    qualification_type: "POINTS_IN_PERIOD",
    qualification_period: "MONTH",
    expiration_date: { type, ...(extend !== undefined && { extend }) },
  });
const custom = (extend: string, rounding?: object) =>
  policyOf({ expiration_date: { type: "CUSTOM", extend, ...(rounding && { rounding }) } });

const tier = (id: string, from: number, to: number | null, fields: Partial<Tier> = {}): Tier => ({
  id,
  campaignId: "camp_1",
  name: id,
  from: BigInt(from),
  to: to === null ? null : BigInt(to),
  earningRules: new Map(),
  rewards: new Map(),
  metadata: {},
  createdAt: 0,
  updatedAt: null,
  deleted: false,
  ...fields,
});
const SILVER = tier("silver", 100, 499);
const GOLD = tier("gold", 500, null);
const TIERS = [SILVER, GOLD];

const START: TierState = {
  projectId: "proj_1",
  cardId: "v_1",
  campaignId: "camp_1",
  customerId: "cust_1",
  tierId: null,
  startDate: null,
  expirationDate: null,
  nextTierId: null,
  nextStart: null,
  periodStart: null,
  periodPoints: 0n,
  balance: 0n,
  heldPoints: 0n,
  ledgerVersion: 0n,
  createdAt: 0,
  updatedAt: null,
};

/** Pending points that a night activates. */
const NIGHTLY = "PENDING_POINTS_ACTIVATION";

/** Points on dates, or a date alone; returns the changes as `date type tier expiry`. */
type Step = readonly [date: string, points?: number, type?: string];

function run(program: TierProgram, steps: readonly Step[], from: TierState = START) {
  let state = from;
  const changes: TierChange[] = [];
  for (const [date, points, type] of steps) {
    const progress =
      points === undefined
        ? advanceTo(state, date, program)
        : followEntry(state, entryAfter(state, { date, points, type }), program);
    state = progress.state;
    changes.push(...progress.changes);
  }
  return { state, changes: changes.map(textOf) };
}

const entryAfter = (
  state: TierState,
  {
    date,
    points,
    type = "POINTS_ACCRUAL",
  }: { date: string; points: number; type?: string | undefined },
): TierEntry => ({
  version: state.ledgerVersion + 1n,
  type: points < 0 ? "POINTS_REDEMPTION" : type,
  points: BigInt(points),
  balanceAfter: state.balance + BigInt(points),
  heldPoints: 0n,
  nightly: type === NIGHTLY,
  date,
});

const textOf = ({ type, tier: to, previous, expirationDate, date }: TierChange): string =>
  [date, type, (to ?? previous)?.id, ...(expirationDate === null ? [] : [expirationDate])].join(
    " ",
  );

describe("the end of a tier", () => {
  const rounded = (type: string, strategy = "END", value?: number) =>
    custom("P3M", { type, strategy, unit: "MONTH", ...(value !== undefined && { value }) });
  test.each([
    ["three months, to the end of the month", rounded("MONTH"), "2022-11-10", "2023-02-28"],
    ["three months", custom("P3M"), "2022-11-30", "2023-02-28"],
    ["the end of the quarter", rounded("QUARTER"), "2022-11-10", "2023-03-31"],
    ["the end of the half-year", rounded("HALF_YEAR"), "2022-11-10", "2023-06-30"],
    ["the end of the year", rounded("YEAR"), "2022-11-10", "2023-12-31"],
    ["the end of January, which is 0", rounded("CUSTOM", "END", 0), "2022-11-10", "2024-01-31"],
    ["the end of December, which is 11", rounded("CUSTOM", "END", 11), "2022-11-10", "2023-12-31"],
    ["the start of a month", rounded("MONTH", "START"), "2022-11-10", "2023-03-01"],
    ["the start of a month that it is", rounded("MONTH", "START"), "2022-11-01", "2023-02-01"],
    ["the start of a quarter", rounded("QUARTER", "START"), "2022-11-10", "2023-04-01"],
    ["the start of February", rounded("CUSTOM", "START", 1), "2022-11-10", "2024-02-01"],
    ["the period of its start", monthly("END_OF_PERIOD"), "2026-03-10", "2026-03-31"],
    ["the next period", monthly("END_OF_NEXT_PERIOD"), "2026-03-10", "2026-04-30"],
    ["a week after the period", monthly("END_OF_PERIOD", "P7D"), "2026-03-10", "2026-04-07"],
    ["no date", policyOf({}), "2026-03-10", null],
    [
      "the start of a year after the start of the tier",
      custom("P1D", { type: "YEAR", strategy: "START" }),
      "2026-03-10",
      "2027-01-01",
    ],
  ])("%s", (_, policy, start, end) => {
    expect(tierExpiry(policy, start)).toBe(end);
  });

  test("is never before its start and extension, and each prolongation ends later", () => {
    const strategy = fc.constantFrom("START", "END");
    const rounding = fc.oneof(
      fc.record({ type: fc.constantFrom("MONTH", "QUARTER", "HALF_YEAR", "YEAR"), strategy }),
      fc.record({
        type: fc.constant("CUSTOM"),
        strategy,
        unit: fc.constant("MONTH"),
        value: fc.nat(11),
      }),
    );
    const scenario = fc.record({
      days: fc.nat(1_500),
      length: fc.integer({ min: 1, max: 400 }),
      rounding: fc.option(rounding, { nil: undefined }),
    });
    fc.assert(
      fc.property(scenario, ({ days, length, rounding: up }) => {
        const policy = custom(`P${length}D`, up);
        const start = addDays("2026-01-01", days);
        const program = { tiers: TIERS, policy };
        const joined = run(program, [[start, 100]]);
        const ends: string[] = [];
        let { state } = joined;
        for (let times = 0; times < 4; times++) {
          const end = state.expirationDate ?? "";
          ends.push(end);
          const next = advanceTo(state, addDays(end, 1), program);
          expect(next.changes.map(({ type }) => type)).toEqual(["prolonged"]);
          ({ state } = next);
        }
        expect(ends[0]! >= addDays(start, length)).toBe(true);
        expect(new Set(ends).size).toBe(ends.length);
        expect(ends.toSorted()).toEqual(ends);
      }),
    );
  });

  test.each([
    ["MONTH", "2026-12-31", "2027-01-01"],
    ["QUARTER", "2026-05-15", "2026-07-01"],
    ["HALF_YEAR", "2026-05-15", "2026-07-01"],
    ["YEAR", "2026-05-15", "2027-01-01"],
  ] as const)("the %s after %s starts on %s", (period, date, next) => {
    expect(startOfNextTierPeriod(period, date)).toBe(next);
  });
});

const NEXT_PERIOD = policyOf({
  qualification_type: "POINTS_IN_PERIOD",
  qualification_period: "MONTH",
  start_date: { type: "NEXT_PERIOD" },
  expiration_date: { type: "END_OF_PERIOD" },
});

/** Scenarios by policy: points and dates, and the changes of the tier that follow. */
const SCENARIOS: readonly (readonly [
  string,
  TierProgram["policy"],
  readonly Step[],
  readonly string[],
])[] = [
  [
    "follows the balance up, down and out",
    policyOf({}),
    [
      ["2026-03-01", 99],
      ["2026-03-02", 1],
      ["2026-03-03", 400],
      ["2026-03-04", -1],
      ["2026-03-05", -450],
    ],
    [
      "2026-03-02 joined silver",
      "2026-03-03 upgraded gold",
      "2026-03-04 downgraded silver",
      "2026-03-05 left silver",
    ],
  ],
  [
    "moves up immediately, and down only when the tier ends",
    custom("P1M"),
    [["2026-03-01", 500], ["2026-03-02", -400], ["2026-04-01"], ["2026-04-02"]],
    ["2026-03-01 joined gold 2026-04-01", "2026-04-02 downgraded silver 2026-05-02"],
  ],
  [
    "is prolonged while the balance suffices, and left when it does not",
    custom("P1M"),
    [["2026-03-01", 100], ["2026-04-02"], ["2026-04-03", -1], ["2026-05-02"], ["2026-05-03"]],
    [
      "2026-03-01 joined silver 2026-04-01",
      "2026-04-02 prolonged silver 2026-05-02",
      "2026-05-03 left silver",
    ],
  ],
  [
    "counts points of the period, whatever is spent of them, and not transfers",
    monthly("END_OF_PERIOD"),
    [
      ["2026-03-10", 90],
      ["2026-03-11", -80],
      ["2026-03-12", 50, "POINTS_TRANSFER_IN"],
      ["2026-03-13", 10],
      ["2026-04-01"],
    ],
    ["2026-03-13 joined silver 2026-03-31", "2026-04-01 left silver"],
  ],
  [
    "is prolonged when the threshold is reached again in a later period",
    monthly("END_OF_NEXT_PERIOD"),
    [
      ["2026-03-10", 100],
      ["2026-03-11", 50],
      ["2026-04-05", 99],
      ["2026-04-06", 1],
      ["2026-05-31"],
      ["2026-06-01"],
    ],
    [
      "2026-03-10 joined silver 2026-04-30",
      "2026-04-06 prolonged silver 2026-05-31",
      "2026-06-01 left silver",
    ],
  ],
  [
    "is kept by points that become active on the night of its end",
    custom("P1M"),
    [["2026-03-01", 100], ["2026-03-02", -1], ["2026-04-02", 1, NIGHTLY], ["2026-04-02"]],
    ["2026-03-01 joined silver 2026-04-01", "2026-04-02 prolonged silver 2026-05-02"],
  ],
  [
    "starts with its period before the points that become active on that night",
    NEXT_PERIOD,
    [["2026-03-10", 500], ["2026-04-01", 100, NIGHTLY], ["2026-04-01"], ["2026-05-01"]],
    ["2026-04-01 joined gold 2026-04-30", "2026-05-01 downgraded silver 2026-05-31"],
  ],
  [
    "starts with the next period",
    NEXT_PERIOD,
    [
      ["2026-03-10", 100],
      ["2026-03-12", 400],
      ["2026-04-01"],
      ["2026-04-20", 120],
      ["2026-05-01"],
      ["2026-06-01"],
    ],
    [
      "2026-04-01 joined gold 2026-04-30",
      "2026-05-01 downgraded silver 2026-05-31",
      "2026-06-01 left silver",
    ],
  ],
];

describe("the tier of a card", () => {
  test.each(SCENARIOS)("%s", (_, policy, steps, changes) => {
    expect(run({ tiers: TIERS, policy }, steps).changes).toEqual(changes);
  });

  test("does not depend on when the nights of a project run", () => {
    const step = fc.record({ days: fc.nat(12), points: fc.integer({ min: -300, max: 300 }) });
    const scenario = fc.record({
      policy: fc.constantFrom(...SCENARIOS.map(([, policy]) => policy)),
      steps: fc.array(step, { maxLength: 25 }),
    });
    fc.assert(
      fc.property(scenario, ({ policy, steps: moves }) => {
        const program = { tiers: TIERS, policy };
        let date = "2026-01-01";
        let balance = 0;
        const steps = moves.map(({ days, points }): Step => {
          date = addDays(date, days);
          const moved = Math.max(points, -balance);
          balance += moved;
          return [date, moved];
        });
        const nightly = steps.flatMap((each): Step[] => [[addDays(each[0], -1)], [each[0]], each]);
        expect(run(program, nightly)).toEqual(run(program, steps));
      }),
    );
  });

  test("is left immediately when the tier is deleted, and the value qualifies for another or none", () => {
    const policy = custom("P1Y");
    const { state } = run({ tiers: TIERS, policy }, [["2026-03-01", 500]]);
    const without = { tiers: [SILVER, { ...GOLD, deleted: true }], policy };
    expect(requalify(state, "2026-03-02", without).changes.map(textOf)).toEqual([
      "2026-03-02 left gold",
    ]);
    const wider = { tiers: [tier("silver", 100, null), { ...GOLD, deleted: true }], policy };
    expect(requalify(state, "2026-03-02", wider).changes.map(textOf)).toEqual([
      "2026-03-02 downgraded silver 2027-03-02",
    ]);
  });

  test("goes only up when thresholds move, unless it has no date to end", () => {
    const higher = [tier("silver", 200, 999), tier("gold", 1_000, null)];
    const fixed = run({ tiers: TIERS, policy: custom("P1Y") }, [["2026-03-01", 500]]).state;
    expect(
      requalify(fixed, "2026-03-02", { tiers: higher, policy: custom("P1Y") }).changes,
    ).toEqual([]);
    const open = run({ tiers: TIERS, policy: policyOf({}) }, [["2026-03-01", 500]]).state;
    expect(
      requalify(open, "2026-03-02", { tiers: higher, policy: policyOf({}) }).changes.map(textOf),
    ).toEqual(["2026-03-02 downgraded silver"]);
  });

  test("ends on another date when changed rules are applied to it", () => {
    const { state } = run({ tiers: TIERS, policy: custom("P1Y") }, [["2026-03-01", 500]]);
    const program = { tiers: TIERS, policy: custom("P2Y") };
    const { changes, state: after } = recalculateExpiry(state, "2026-06-01", program);
    expect(changes.map(textOf)).toEqual(["2026-06-01 expiration.changed gold 2028-03-01"]);
    expect(recalculateExpiry(after, "2026-06-01", program).changes).toEqual([]);
  });
});

describe("tiers", () => {
  test.each([
    [0, undefined],
    [99, undefined],
    [100, "silver"],
    [499, "silver"],
    [500, "gold"],
  ])("%i points qualify for %s", (value, id) => {
    expect(qualifiedTier(TIERS, BigInt(value))?.id).toBe(id);
  });

  test("overlap when a value is in two ranges of tiers that exist", () => {
    expect(overlappingTiers(TIERS)).toBeNull();
    expect(overlappingTiers([...TIERS, tier("bronze", 0, 100)])?.map(({ id }) => id)).toEqual([
      "bronze",
      "silver",
    ]);
    expect(overlappingTiers([tier("open", 0, null), SILVER])).not.toBeNull();
    expect(overlappingTiers([tier("old", 0, null, { deleted: true }), SILVER])).toBeNull();
  });

  test.each([
    [25n, { type: "MULTIPLY", multiplier: { unscaled: 5n, scale: 1 } }, 13n],
    [1n, { type: "MULTIPLY", multiplier: { unscaled: 1n, scale: 2 } }, 1n],
    [25n, { type: "CUSTOM", points: 4n }, 4n],
    [25n, { type: "NOT_AVAILABLE" }, null],
    [25n, undefined, 25n],
  ] as const)("a price of %s points with mapping %o is %s", (points, mapping, price) => {
    expect(mappedPrice(points, mapping)).toBe(price);
  });

  test("rounds the points of a block of a COIN reward up", () => {
    const half = { type: "MULTIPLY", multiplier: { unscaled: 5n, scale: 1 } } as const;
    expect([mappedRatio(5n, half), mappedRatio(1n, half), mappedRatio(7n, undefined)]).toEqual([
      3n,
      1n,
      7n,
    ]);
    expect(mappedRatio(5n, { type: "NOT_AVAILABLE" })).toBeNull();
  });
});
