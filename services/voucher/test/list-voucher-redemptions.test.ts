import { afterAll, describe, expect, test } from "vitest";

import { commandOf, createCommit, createGiftVoucher, committedRedemptions } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

describe("ListVoucherRedemptions", () => {
  test("returns the usage of a voucher and its redemptions, newest first", async () => {
    const voucher = await createGiftVoucher(service, 100n, { redemption: { quantity: 9n } });
    const commit = createCommit(service);
    const ids: string[] = [];
    for (const [index, credits] of [30n, 20n, 10n].entries()) {
      const [outcome] = await commit(
        commandOf(service, [{ voucher, credits }], {
          now: { seconds: BigInt(NOON / 1000 + index), nanos: 0 },
        }),
      );
      ids.unshift(committedRedemptions(outcome)[0]?.id ?? "");
    }
    const list = await service.redemptions.listVoucherRedemptions(
      { code: voucher.code, limit: 2n },
      service.call(),
    );
    expect(list).toMatchObject({
      quantity: 9n,
      redeemedQuantity: 3n,
      redeemedAmount: 60n,
      total: 3n,
      url: voucher.redemption?.url,
    });
    expect(list.redemptionEntries.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    // Each with the voucher as it was right after.
    expect(list.redemptionEntries.map((one) => one.voucher?.gift?.balance)).toEqual([40n, 50n]);
    const rest = await service.redemptions.listVoucherRedemptions(
      { code: voucher.id, limit: 2n, page: 2n },
      service.call(),
    );
    expect(rest.redemptionEntries.map(({ id }) => id)).toEqual(ids.slice(2));
    await expect(
      service.redemptions.listVoucherRedemptions({ code: voucher.id, page: 1001n }, service.call()),
    ).rejects.toMatchObject({ key: "page_over_limit" });
  });
});
