import { CountMeasure } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { afterAll, expect, test } from "vitest";

import { findFigures } from "../src/store/campaign-figures.ts";
import {
  committedRedemptions,
  createCommit,
  createDiscountVoucher,
  rejectionOf,
  stackOf,
  voucherPart,
} from "./builders.ts";
import { startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const { db } = service;

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** The amounts of the redemptions add up to more than eight bytes. */
const redeem = (status: string) =>
  db.query(
    `insert into redemption (project_id, id, voucher_id, campaign_id, customer_id, order_amount, status, created_at,
            channel_id, channel_type, request_id)
     select 'p_' || $1, 'r_' || n, 'v_1', 'camp_1', 'cust_1', 9007199254740991, $1, now(), '', '', ''
       from generate_series(1, 1100) n`,
    [status],
  );

test("redemptions of a customer are added up, however large their orders are", async () => {
  await redeem("SUCCEEDED");
  const scope = { case: "voucherId" as const, value: "v_1" };
  const counts = ["cust_1", "cust_2"].map((customerId) => ({
    measure: CountMeasure.ORDERS_AMOUNT,
    scope,
    customerId,
  }));
  const { results } = await service.redemptions.countRedemptions(
    { queries: [{ projectId: "p_SUCCEEDED", counts }] },
    service.call(),
  );
  expect(results[0]?.values).toEqual([LARGEST, 0n]);
});

test("redemptions of a campaign that were rolled back are added up, however large their orders are", async () => {
  await redeem("ROLLED_BACK");
  const scope = { projectId: "p_ROLLED_BACK", campaignId: "camp_1", from: null, until: null };
  const figures = await findFigures(db, scope, new Set(["always"] as const));
  expect(figures).toMatchObject({ redemptions: 1_100n, orders_amount: LARGEST });
});

test("a redemption that the totals of its campaign cannot hold is rejected, and others are not", async () => {
  const commit = createCommit(service);
  const voucher = await createDiscountVoucher(service);
  await db.query(
    `insert into redemption_total (project_id, scope_id, orders_amount) values ($1, 'camp_full', $2)`,
    [service.projectId, 2n ** 63n - 1_000n],
  );
  const redeemed = (campaignId: string, orderAmount: bigint) =>
    stackOf(service, [voucherPart(voucher, { campaignId, orderAmount })]);

  const [exceeding, fitting, other] = await commit(
    redeemed("camp_full", 1_000n),
    redeemed("camp_full", 900n),
    redeemed("camp_other", 1_000n),
  );

  expect(rejectionOf(exceeding)).toMatchObject({ key: "invalid_order" });
  for (const outcome of [fitting, other]) expect(committedRedemptions(outcome)).toBeDefined();
});
