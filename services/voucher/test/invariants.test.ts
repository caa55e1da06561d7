import { afterAll, expect, test } from "vitest";

import { voucherInvariants } from "../src/store/invariants.ts";
import {
  createCommit,
  createDiscountVoucher,
  createGiftVoucher,
  committedRedemptions,
  stackOf,
  tierOf,
  voucherPart,
} from "./builders.ts";
import { checkInvariants, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

const NOW = { seconds: BigInt(NOON / 1000), nanos: 0 };
/** Real time: the check takes no other for the project's. */
const LATER = { seconds: BigInt(Math.floor(Date.now() / 1000) + 600), nanos: 0 };

async function violations(): Promise<string[]> {
  const request = { projectId: service.projectId, after: "", limit: 1000 };
  const found: string[] = [];
  for (const { name, checkChunk } of voucherInvariants) {
    const chunk = await checkChunk(service.db, request);
    found.push(...chunk.violations.map(({ details }) => `${name}: ${details}`));
  }
  return found;
}

test("a gift card with amount zero violates no invariant", async () => {
  await createGiftVoucher(service, 0n);
  expect(await violations()).toEqual([]);
});

test("each check finds a violation in the rows of stacks, rollbacks and sessions", async () => {
  const gift = await createGiftVoucher(service, 1000n, { redemption: { quantity: 5n } });
  const held = await createDiscountVoucher(service, { redemption: { quantity: 1n } });
  const stack = () =>
    stackOf(service, [
      voucherPart(gift, {
        credits: 100n,
        campaignId: "camp_1",
        orderAmount: 900n,
        units: [{ productId: "prod_1", quantity: 2n }],
      }),
      tierOf("promo_1"),
    ]);
  const [first, second] = await commit(stack(), stack());
  const parents = [first, second].map(
    (outcome) => committedRedemptions(outcome)[0]?.redemption ?? "",
  );
  const call = service.call();
  await service.redemptions.commitRollbacks(
    {
      commands: [
        { projectId: service.projectId, redemptionId: parents[1] ?? "", stacked: true, now: NOW },
      ],
    },
    call,
  );
  await service.redemptions.reserveVouchers(
    {
      commands: [
        {
          projectId: service.projectId,
          sessionKey: "session",
          now: { seconds: LATER.seconds - 600n, nanos: 0 },
          expiresAt: LATER,
          reservations: [
            { voucherId: held.id, definitionVersion: 1n },
            { voucherId: gift.id, definitionVersion: 1n, credits: 900n },
          ],
        },
      ],
    },
    call,
  );
  await checkInvariants(service);

  // What the service never does.
  for (const [statement, value] of [
    ["update redemption_total set orders_amount = 5 where scope_id = $1", "camp_1"],
    ["update redemption_units set quantity = 7 where scope_id = $1", "camp_1"],
    ["update redemption set status = 'ROLLED_BACK' where id = $1", parents[0]],
    ["update voucher_usage set reserved = false where voucher_id = $1", held.id],
    ["update reservation set credits = 901 where voucher_id = $1", gift.id],
  ] as const) {
    await service.db.query(statement, [value]);
  }

  const expected = [
    "I2 totals: counts 1 redemptions, 5 of orders, 0 of discounts, 100 credits; has 1, 900, 0, 100",
    "I2 units: product prod_1: counts 7, has 2",
    "I2 rollbacks: is rolled back, by 0 rollbacks",
    "I3 stacks: is SUCCEEDED, its parent is ROLLED_BACK",
    "I3 stacks: is SUCCEEDED, its parent is ROLLED_BACK",
    "I1 sessions: is locked by 1 sessions, and not marked",
    "I1 sessions: has 900 left, of which 901 are locked",
  ];
  expect((await violations()).toSorted()).toEqual(expected.toSorted());
});

test("the ledger check finds an amount and totals that adjustments do not add up to", async () => {
  await service.db.query("delete from voucher_ledger_entry where project_id = $1", [
    service.projectId,
  ]);
  await service.db.query("delete from voucher_usage where project_id = $1", [service.projectId]);
  const [first, second] = [
    await createGiftVoucher(service, 10n),
    await createGiftVoucher(service, 10n),
  ];
  await service.db.query("update voucher_ledger_entry set total_after = 9 where voucher_id = $1", [
    first.id,
  ]);
  await service.db.query(
    `update voucher_usage set amount = 15, redeemed_amount = 5 where voucher_id = $1`,
    [second.id],
  );
  expect((await violations()).filter((text) => text.startsWith("I2 ledger"))).toEqual([
    "I2 ledger: 1 totals do not follow from the additions and removals",
    "I2 ledger: has an amount of 15, its additions and removals are 10",
  ]);
});
