import { repetitions } from "@scrip/testing/repetitions";
import fc from "fast-check";
import { expect, test } from "vitest";

import { type Api, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok } from "../stack/rule-builders.ts";
import { crashableStack } from "../stack/stack.ts";
import type { Command, Model } from "./model/command.ts";
import { CRASHES, retryingClaimConflicts } from "./model/crashes.ts";
import { DEFINITIONS } from "./model/definitions.ts";
import { createRealSystem, type RealSystem } from "./model/real-system.ts";
import { REDEMPTIONS } from "./model/redemptions.ts";
import { balanceOf, EMPTY, evaluate, usesOf } from "./model/reference.ts";

/** Every run sends the same commands; MODEL_SEED=$RANDOM tries others, MODEL_RUNS=5000 tries more. */
const SEED = Number(process.env["MODEL_SEED"] ?? 20_261_121);
const RUNS = Number(process.env["MODEL_RUNS"] ?? repetitions({ usual: 80, full: 160 }));
const RUNS_WITH_CRASHES = Math.ceil(RUNS / 30);
/** Parallel runs, each with one request at a time: enough to keep a small machine busy. */
const LANES = 4;
const MAX_COMMANDS = 40;
const TIMEOUT_MS = 600_000;

const stack = await crashableStack("standalone");
const api = await serverApi(stack);

test(
  `the system matches the reference model in ${RUNS} random runs of commands`,
  { timeout: TIMEOUT_MS },
  async () => {
    const lanes = Array.from({ length: LANES }, (_, lane) =>
      assertRuns([...DEFINITIONS, ...REDEMPTIONS], {
        numRuns: Math.ceil(RUNS / LANES),
        seed: SEED + lane,
      }),
    );
    await Promise.all(lanes);
    expect(await invariantViolations(stack)).toEqual([]);
  },
);

test("the system matches the reference model across crashes", { timeout: TIMEOUT_MS }, async () => {
  await assertRuns([...DEFINITIONS, ...REDEMPTIONS, ...CRASHES], {
    caller: retryingClaimConflicts(api),
    numRuns: RUNS_WITH_CRASHES,
    seed: SEED,
    endOnFailure: true,
  });
  expect(await invariantViolations(stack)).toEqual([]);
});

type RunOptions = {
  readonly numRuns: number;
  readonly seed: number;
  readonly endOnFailure?: boolean;
  readonly caller?: Api;
};

/**
 * A failure reports the seed and the shortest failing commands; with `endOnFailure` the first failing
 * ones, because shrinking would take too long.
 */
async function assertRuns(
  commands: fc.Arbitrary<Command>[],
  { caller = api, ...options }: RunOptions,
): Promise<void> {
  console.log(`MODEL_SEED=${options.seed}`);
  const runs = fc.commands(commands, { maxCommands: MAX_COMMANDS, size: "max" });
  const property = fc.asyncProperty(runs, async (run) => {
    const model: Model = { state: EMPTY, crashes: 0 };
    const real = createRealSystem(caller, stack.crash);
    await fc.asyncModelRun(() => ({ model, real }), run);
    await expectSame(model, real);
  });
  await fc.assert(property, options);
}

/** Compares every voucher, as stored and as a validation evaluates it, with the model. */
async function expectSame({ state }: Model, { codes }: RealSystem): Promise<void> {
  for (const [position, code] of codes.entries()) {
    const expected = state.vouchers[position]!;
    const voucher = await ok(api.get(`/v1/vouchers/${code}`));
    expect(voucher["active"]).toBe(expected.active);
    expect(voucher["redemption"]).toMatchObject({
      quantity: expected.quantity,
      redeemed_quantity: usesOf(state, position),
    });
    if ("loaded" in expected.gives) {
      expect(voucher["gift"].balance).toBe(balanceOf(state, position));
    }
    const order = { amount: 10_000 };
    const request = { vouchers: [position], amount: order.amount, key: null, credits: null };
    const { error, discount } = evaluate(state, request);
    const redeemables = [{ object: "voucher", id: code }];
    const response = await ok(api.post("/v1/validations", { redeemables, order }));
    expect(response["redeemables"][0].result.error?.key ?? null).toBe(error);
    if (error === null) expect(response["order"].total_discount_amount).toBe(discount);
  }
}
