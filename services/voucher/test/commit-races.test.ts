import { afterAll, describe, expect, test } from "vitest";

import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  keyOf,
  committedRedemptions,
} from "./builders.ts";
import { withRetries } from "./concurrency.ts";
import { startTestService } from "./deps.ts";
import { invariantsOf } from "./voucher-invariants.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

describe("concurrent batches", () => {
  test("never exceed a quantity of one hundred with a thousand redemptions in several processes", async () => {
    const voucher = await createDiscountVoucher(service, { redemption: { quantity: 100n } });
    const processes = [service.redemptions, service.replica(), service.replica()];

    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, batch) =>
        withRetries(createCommit(service, processes[batch % processes.length]))(
          ...Array.from({ length: 50 }, () => commandOf(service, [{ voucher }])),
        ),
      ),
    );

    const cases = outcomes.flat().map(({ outcome }) => outcome.case);
    expect(cases.filter((one) => one === "committed")).toHaveLength(100);
    expect(cases.filter((one) => one === "rejected")).toHaveLength(900);
    const keys = outcomes
      .flat()
      .flatMap((one) => (one.outcome.case === "rejected" ? one.outcome.value.key : []));
    expect(new Set(keys)).toEqual(new Set(["quantity_exceeded"]));
    expect(await invariantsOf(service, voucher.id)).toMatchObject({ redeemed: 100n, events: 100n });
  });

  test("never overdraw a gift card, and keep its ledger consistent", async () => {
    const voucher = await createGiftVoucher(service, 10_000n);
    const processes = [service.redemptions, service.replica()];
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, batch) =>
        withRetries(createCommit(service, processes[batch % 2]))(
          ...Array.from({ length: 25 }, (__, index) =>
            commandOf(service, [
              { voucher, credits: BigInt(1 + ((batch * 31 + index * 17) % 97)) },
            ]),
          ),
        ),
      ),
    );
    const taken = outcomes
      .flat()
      .flatMap((one) => (one.outcome.case === "committed" ? one.outcome.value.redemptions : []))
      .reduce((sum, { amount = 0n }) => sum + amount, 0n);
    const after = await invariantsOf(service, voucher.id);
    expect(after.balance).toBe(10_000n - taken);
    expect(after.balance >= 0n).toBe(true);
    expect(taken > 9_900n).toBe(true);
  });

  test("apply an idempotency key once, in any number of batches", async () => {
    const vouchers = await Promise.all(
      Array.from({ length: 4 }, () => createDiscountVoucher(service)),
    );
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, batch) => {
        const voucher = vouchers[batch % vouchers.length];
        if (voucher === undefined) throw new Error("no voucher");
        return withRetries(
          createCommit(service, batch % 2 === 0 ? service.redemptions : service.replica()),
        )(commandOf(service, [{ voucher }], { idempotency: keyOf("everywhere") }));
      }),
    );
    const committed = outcomes.flat();
    expect(committed.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(committed.map((one) => committedRedemptions(one)[0]?.id)).size).toBe(1);
    const used = await Promise.all(vouchers.map(({ id }) => invariantsOf(service, id)));
    expect(used.reduce((sum, { redeemed }) => sum + redeemed, 0n)).toBe(1n);
  });

  test("never deadlock on the same vouchers in opposite orders", async () => {
    const vouchers = await Promise.all(
      Array.from({ length: 10 }, () => createDiscountVoucher(service)),
    );
    const { rows: before } = await service.db.query<{ deadlocks: bigint }>(DEADLOCKS);
    await Promise.all(
      Array.from({ length: 40 }, (_, batch) => {
        const order = batch % 2 === 0 ? vouchers : vouchers.toReversed();
        return withRetries(commit)(
          ...order.map((voucher, index) =>
            commandOf(service, [{ voucher }], {
              idempotency: keyOf(`${batch}-${batch % 2 === 0 ? index : 9 - index}`),
            }),
          ),
        );
      }),
    );
    const { rows: after } = await service.db.query<{ deadlocks: bigint }>(DEADLOCKS);
    expect(after).toEqual(before);
    for (const { id } of vouchers) expect((await invariantsOf(service, id)).redeemed).toBe(40n);
  });

  test("never see half of an edit of the voucher", async () => {
    const voucher = await createDiscountVoucher(service);
    const [edits, outcomes] = await Promise.all([
      Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          index % 2 === 0
            ? service.vouchers.disableVoucher({ code: voucher.code }, service.call())
            : service.vouchers.enableVoucher({ code: voucher.code }, service.call()),
        ),
      ),
      Promise.all(
        Array.from({ length: 20 }, () => withRetries(commit)(commandOf(service, [{ voucher }]))),
      ),
    ]);
    expect(edits).toHaveLength(10);
    const committed = outcomes.flat().filter(({ outcome }) => outcome.case === "committed");
    const stale = outcomes.flat().filter(({ outcome }) => outcome.case === "stale");
    expect(committed.length + stale.length).toBe(20);
    expect((await invariantsOf(service, voucher.id)).redeemed).toBe(BigInt(committed.length));
  });
});

const DEADLOCKS = "select deadlocks from pg_stat_database where datname = current_database()";
