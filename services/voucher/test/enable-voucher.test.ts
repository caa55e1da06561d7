import { afterAll, describe, expect, test } from "vitest";

import { createDiscountVoucher } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

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
});
