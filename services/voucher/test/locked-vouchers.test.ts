import { afterAll, describe, expect, test } from "vitest";

import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  keyOf,
  committedRedemptions,
  rejectionOf,
} from "./builders.ts";
import { startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

/** Holds the voucher as an administrator with an open transaction does. */
async function whileLocked(voucherId: string, work: () => Promise<void>): Promise<void> {
  await service.db.transaction(async (tx) => {
    await tx.query("select 1 from voucher_usage where voucher_id = $1 for update", [voucherId]);
    await work();
  });
}

const redeemedOf = async (voucherId: string): Promise<bigint | undefined> => {
  const { rows } = await service.db.query<{ redeemed_quantity: bigint }>(
    "select redeemed_quantity from voucher_usage where voucher_id = $1",
    [voucherId],
  );
  return rows[0]?.redeemed_quantity;
};

describe("a voucher that another transaction locks", () => {
  test("is rejected with service_unavailable, and the others of its batch are redeemed", async () => {
    const [held, free] = [
      await createDiscountVoucher(service),
      await createDiscountVoucher(service),
    ];
    await whileLocked(held.id, async () => {
      for (const _ of ["waits for it", "knows of it"]) {
        const outcomes = await commit(
          commandOf(service, [{ voucher: held }]),
          commandOf(service, [{ voucher: free }]),
          commandOf(service, [{ voucher: free }, { voucher: held }]),
        );
        expect(rejectionOf(outcomes[0])).toMatchObject({
          code: 503,
          key: "service_unavailable",
          details: `Voucher ${held.code} is locked by another request; try again`,
        });
        expect(committedRedemptions(outcomes[1])).toHaveLength(1);
        expect(rejectionOf(outcomes[2])).toMatchObject({ code: 503 });
      }
    });
    expect(await redeemedOf(free.id)).toBe(2n);
    expect(await redeemedOf(held.id)).toBe(0n);
  });

  test("is redeemed as soon as it is free, under the key of the earlier attempts", async () => {
    const voucher = await createDiscountVoucher(service);
    const command = commandOf(service, [{ voucher }], { idempotency: keyOf("patient") });
    await whileLocked(voucher.id, async () => {
      const outcomes = [...(await commit(command)), ...(await commit(command, command))];
      expect(outcomes.map((outcome) => rejectionOf(outcome).code)).toEqual([503, 503, 503]);
    });
    const [first, repeated] = await commit(command, command);
    expect(committedRedemptions(first)).toEqual(committedRedemptions(repeated));
    expect([first?.replayed, repeated?.replayed]).toEqual([false, true]);
    expect(await redeemedOf(voucher.id)).toBe(1n);
  });

  test("does not prevent the replay of a stored response", async () => {
    const voucher = await createDiscountVoucher(service);
    const command = commandOf(service, [{ voucher }], { idempotency: keyOf("answered") });
    const [first] = await commit(command);
    await whileLocked(voucher.id, async () => {
      const [repeated] = await commit(command);
      expect(repeated).toEqual({ ...first, replayed: true });
    });
  });
});

test("a voucher that does not exist is not reported as locked", async () => {
  const [held, deleted] = [
    await createDiscountVoucher(service),
    await createDiscountVoucher(service),
  ];
  await whileLocked(held.id, async () => {
    const stranger = { projectId: "proj_stranger" };
    const outcomes = await commit(
      commandOf(service, [{ voucher: held }]),
      commandOf(stranger, [{ voucher: deleted }]),
    );
    expect(outcomes.map((outcome) => rejectionOf(outcome).key)).toEqual([
      "service_unavailable",
      "not_found",
    ]);
  });
});
