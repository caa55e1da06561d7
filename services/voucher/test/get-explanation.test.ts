import { afterAll, beforeAll, describe, expect, test } from "vitest";

import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  committedRedemptions,
  rejectionOf,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

const at = (minutes: number) => ({
  $typeName: "google.protobuf.Timestamp" as const,
  seconds: BigInt(NOON / 1000 + minutes * 60),
  nanos: 0,
});

/** Readable names of the ids of this project. */
const names = new Map<string, string>();
let code = "";

beforeAll(async () => {
  const voucher = await createDiscountVoucher(service, { redemption: { quantity: 2n } });
  ({ code } = voucher);
  const [single] = committedRedemptions(
    (
      await commit(
        commandOf(service, [{ voucher }], {
          now: at(1),
          customerId: "cust_1",
          metadata: { shop: "north" },
        }),
      )
    )[0],
  );
  const [stacked] = await commit(
    stackOf(
      service,
      [voucherPart(voucher, { campaignId: "camp_1", explanation: WHY }), tierOf("promo_1")],
      { now: at(2) },
    ),
  );
  if (stacked?.outcome.case !== "committed") throw new Error("not made");
  const { redemptions, parentRedemption } = stacked.outcome.value;
  const [failed] = await commit(
    commandOf(service, [{ voucher }], { now: at(3), customerId: "cust_1" }),
  );
  const { outcomes } = await service.redemptions.commitRollbacks(
    {
      commands: [
        {
          projectId: service.projectId,
          redemptionId: single?.id ?? "",
          now: at(4),
          reason: "returned",
        },
      ],
    },
    service.call(),
  );
  const [back] = outcomes;
  if (back?.outcome.case !== "committed") throw new Error("not rolled back");
  names.set(single?.id ?? "", "single");
  names.set(redemptions[0]?.id ?? "", "part 1");
  names.set(redemptions[1]?.id ?? "", "part 2");
  names.set(parentRedemption?.id ?? "", "parent");
  names.set(rejectionOf(failed).resourceId ?? "", "failed");
  names.set(back.outcome.value.rollbacks[0]?.id ?? "", "rollback");
});

const WHY = {
  status: "APPLICABLE",
  steps: [
    { kind: "quantity", passed: true, message: "1 of 2 uses", used: 1n, limit: 2n },
    {
      kind: "rule",
      passed: true,
      message: "700 is more than 500",
      validationRuleId: "val_1",
      rule: "1",
      name: "order.amount",
      conditions: { $more_than: [500], deep: { list: [null, true, "text", 1.5, {}] } },
      value: { kind: { case: "numberValue" as const, value: 700 } },
    },
  ],
  allocations: [{ orderItemIndex: 0, amount: 70n, quantity: 1n }, { amount: 5n }],
};

const idOf = (name: string): string =>
  [...names].find(([, each]) => each === name)?.[0] ?? throwMissing(name);

function throwMissing(name: string): never {
  throw new Error(`no ${name}`);
}

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
