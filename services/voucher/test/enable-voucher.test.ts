import type { Database } from "@scrip/postgres";
import { afterAll, describe, expect, test } from "vitest";

import type { Deps } from "../src/deps.ts";
import { setActive } from "../src/voucher/set-active.ts";
import { createDiscountVoucher, createLoyaltyCard } from "./builders.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

describe("EnableVoucher and DisableVoucher", () => {
  test("enable and disable a voucher, idempotently", async () => {
    const { code } = await createDiscountVoucher(service);
    const off = await service.vouchers.disableVoucher({ code }, service.call({ now: NOON + 1000 }));
    expect(off.active).toBe(false);
    expect(
      await service.vouchers.disableVoucher({ code }, service.call({ now: NOON + 2000 })),
    ).toEqual(off);
    const on = await service.vouchers.enableVoucher({ code }, service.call({ now: NOON + 3000 }));
    expect(on).toMatchObject({ active: true, updatedAt: { seconds: BigInt(NOON / 1000 + 3) } });
  });

  test("do not lock a card while its balance is loaded", async () => {
    const { id: code } = await createLoyaltyCard(service);
    const { projectId, db } = service;
    let isFree: boolean | undefined;
    await db.transaction(async (tx) => {
      const deps = depsOf(service.db);
      const cards: Deps["cards"] = {
        ...deps.cards,
        async getCardBalances(request, call) {
          const { rows } = await db.query(
            "select from voucher_usage where project_id = $1 and voucher_id = $2 for update skip locked",
            [projectId, code],
          );
          isFree = rows.length === 1;
          return deps.cards.getCardBalances(request, call);
        },
      };
      // As in a request that is recorded: its transaction ends after the response is built.
      const bound: Database = {
        ...db,
        query: (statement, values) => tx.query(statement, values),
        transaction: (work) => work(tx),
      };
      const off = await setActive(
        { ...deps, cards, db: bound },
        { code, active: false, call: service.call() },
      );
      expect(off).toMatchObject({ active: false, loyaltyCard: { points: 100n, balance: 100n } });
    });
    expect(isFree).toBe(true);
  });
});
