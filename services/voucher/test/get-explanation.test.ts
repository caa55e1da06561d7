import { afterAll, describe, expect, test } from "vitest";

import { startTestService } from "./deps.ts";
import { at, createNamedRedemptions, WHY } from "./named-redemptions.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

const { code, idOf } = await createNamedRedemptions(service);

describe("GetExplanation", () => {
  const explain = (redemptionId: string) =>
    service.redemptions.getExplanation({ redemptionId }, service.call());

  test("returns the explanation of a redemption, and of all parts for a parent", async () => {
    for (const name of ["part 1", "parent"]) {
      expect(await explain(idOf(name))).toMatchObject({
        redemptionId: idOf(name),
        date: at(2),
        redeemables: [
          { id: code, object: "voucher", redemptionId: idOf("part 1"), explanation: WHY },
        ],
      });
    }
  });

  test("returns none when none was stored, and not_found for an unknown redemption", async () => {
    expect((await explain(idOf("single"))).redeemables).toEqual([]);
    await expect(explain("r_unknown")).rejects.toMatchObject({ key: "not_found" });
  });
});
