import {
  commandOf,
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  rejectionOf,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { NOON, type TestService } from "./deps.ts";

/** Minutes after the first time of the tests. */
export const at = (minutes: number) => ({
  $typeName: "google.protobuf.Timestamp" as const,
  seconds: BigInt(NOON / 1000 + minutes * 60),
  nanos: 0,
});

/** The explanation of `part 1`. */
export const WHY = {
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

export type NamedRedemptions = {
  /** Of the voucher that was redeemed. */
  readonly code: string;
  /** A readable name of an id, or the id of another redemption. */
  readonly nameOf: (id: string) => string;
  readonly idOf: (name: string) => string;
};

/**
 * Creates one redemption of each kind, a minute after each other: `single`, `part 1` and `part 2` of the stack `parent`,
 * `failed`, and `rollback`, which returns `single`.
 */
export async function createNamedRedemptions(service: TestService): Promise<NamedRedemptions> {
  const commit = createCommit(service);
  const names = new Map<string, string>();
  const voucher = await createDiscountVoucher(service, { redemption: { quantity: 2n } });
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
  return {
    code: voucher.code,
    nameOf: (id) => names.get(id) ?? id,
    idOf(name) {
      const [id] = [...names].find(([, each]) => each === name) ?? [];
      if (id === undefined) throw new Error(`no ${name}`);
      return id;
    },
  };
}
