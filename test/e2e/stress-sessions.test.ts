import { describe, expect, test } from "vitest";

import {
  type ApiResponse,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
} from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, crashableStacks } from "../stack/stack.ts";

const CLIENTS = 64;
const HOUR_MS = 3_600_000;

const stacks = crashableStacks();

describe.each(COMPOSITIONS)("concurrent sessions (%s)", async (composition) => {
  const stack = await stacks[composition];
  const { id, api } = await newProject(stack, { sandbox: true });

  test("lock no more than the quantity, across a crash and until they expire", async () => {
    const begin = Date.parse("2026-06-01T10:00:00Z");
    await setClock(begin);
    const code = await createVoucher(7);
    const keys = times(100).map(() => newCode("key"));
    const responses = await inParallel(keys, CLIENTS, (key) =>
      lock([code], { key, ttl: 1, ttl_unit: "HOURS" }),
    );
    const lockedKeys = keys.filter((_, n) => responses[n]?.body["valid"]);
    expect(lockedKeys).toHaveLength(7);
    expect(errorKeysIn(responses)).toEqual(["quantity_exceeded"]);

    await stack.crash(composition === "distributed" ? "voucher" : undefined);
    await setClock(begin + HOUR_MS - 1);
    const [none, wrong, own] = [
      await redeem([code]),
      await redeem([code], newCode("key")),
      await redeem([code], lockedKeys[0]),
    ];
    expect([none, wrong].map(({ body }) => body["key"])).toEqual([
      "quantity_exceeded",
      "quantity_exceeded",
    ]);
    expect(own.status, own.text).toBe(200);

    await setClock(begin + HOUR_MS);
    const late = await redeem([code]);
    expect(late.status, late.text).toBe(200);
    expect(await invariantViolations(stack)).toEqual([]);
  });

  test("lock the last use for one session, and only that session can redeem it", async () => {
    const codes = await inParallel(times(10), 4, () => createVoucher(1));
    // Each session locks two vouchers, so that the same vouchers are locked in different orders.
    const attempts = times(100).map((n) => ({
      key: newCode("key"),
      pair: [codes[n % 10]!, codes[(n * 7 + 3) % 10]!].filter(
        (code, at, all) => all.indexOf(code) === at,
      ),
    }));
    const locked = await inParallel(attempts, CLIENTS, ({ pair, key }) => lock(pair, { key }));
    expect(errorKeysIn(locked).filter((key) => key !== "preceding_validation_failed")).toEqual([
      "quantity_exceeded",
    ]);
    const holders = attempts.filter((_, n) => locked[n]?.body["valid"]);
    const lockedCodes = holders.flatMap(({ pair }) => pair);
    expect(new Set(lockedCodes).size).toBe(lockedCodes.length);
    expect(lockedCodes.length).toBeGreaterThan(0);

    const redeemed = await inParallel(attempts, CLIENTS, ({ pair, key }) => redeem(pair, key));
    const winners = attempts.filter((_, n) => redeemed[n]?.status === 200);
    expect(redeemed.filter(({ status }) => status !== 200 && status !== 400)).toEqual([]);
    // Unlocked vouchers can be redeemed by any request; locked ones only by their session.
    for (const { key } of holders) expect(winners.map((one) => one.key)).toContain(key);
    const redeemedCodes = winners.flatMap(({ pair }) => pair);
    expect(new Set(redeemedCodes).size).toBe(redeemedCodes.length);
    expect(await invariantViolations(stack)).toEqual([]);
  });

  async function setClock(now: number): Promise<void> {
    const clock = { now: new Date(now).toISOString() };
    await ok(managementApi(stack).put(`/management/v1/projects/${id}/clock`, clock));
  }

  async function createVoucher(quantity: number): Promise<string> {
    const code = newCode("HOLD");
    const discount = { type: "AMOUNT", amount_off: 100 };
    const voucher = { code, type: "DISCOUNT_VOUCHER", discount, redemption: { quantity } };
    await ok(api.post("/v1/vouchers", voucher));
    return code;
  }

  const lock = (codes: readonly string[], session: Json): Promise<ApiResponse> =>
    api.post("/v1/validations", { ...stackOf(codes), session: { type: "LOCK", ...session } });

  const redeem = (codes: readonly string[], key?: string): Promise<ApiResponse> =>
    api.post("/v1/redemptions", {
      ...stackOf(codes),
      ...(key !== undefined && { session: { type: "LOCK", key } }),
    });
});

const stackOf = (codes: readonly string[]): Json => ({
  redeemables: codes.map((id) => ({ object: "voucher", id })),
  order: { amount: 1_000 },
});

const times = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

/** The distinct error keys of failed validations. */
const errorKeysIn = (responses: readonly ApiResponse[]): readonly string[] => [
  ...new Set(
    responses.flatMap(({ body }) =>
      body["redeemables"].flatMap(({ result }: Json) => result?.error?.key ?? []),
    ),
  ),
];
