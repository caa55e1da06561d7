import { create, toBinary } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RedemptionRolledBackSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { serviceCall } from "@scrip/rpc";
import { expect, test } from "vitest";

import type { Clients } from "../clients.ts";
import { webhookEventsOf } from "./event-sources.ts";

const reject = () => Promise.reject(notFound("voucher", "v_1"));
const vouchers = { getVoucher: reject };
const transactions = { listCardTransactions: reject };
// The voucher was deleted; only it and its transactions are loaded.
const clients = { vouchers, transactions } as unknown as Clients;

const EVENT = {
  id: "event_1",
  topic: "scrip.test.v1",
  key: "v_1",
  projectId: "proj_1",
  headers: {},
  occurredAt: new Date(),
  partition: 0,
  offset: 0n,
};

test.each([
  { orderWasCanceled: false, orderMode: "WITH_ORDER", isSent: true },
  { orderWasCanceled: true, orderMode: "WITH_ORDER", isSent: false },
  { orderWasCanceled: false, orderMode: "WITHOUT_ORDER", isSent: false },
])(
  "a rollback sends that the order is canceled when it cancels it: %o",
  ({ isSent, ...rollback }) => {
    const order = { id: "ord_1", status: OrderStatus.CANCELED };
    const message = create(RedemptionRolledBackSchema, { projectId: "proj_1", order, ...rollback });
    const payload = toBinary(RedemptionRolledBackSchema, message);
    const delivered = { ...EVENT, type: RedemptionRolledBackSchema.typeName, payload };
    const names = webhookEventsOf(delivered, clients).flatMap((event) => event.names);
    expect(names).toContain("customer.order.updated");
    expect(names.includes("customer.order.canceled")).toBe(isSent);
  },
);

test("points that expire are an event with their number, and a transaction", async () => {
  const moved = create(PointsMovedSchema, {
    projectId: "proj_1",
    cardId: "v_1",
    transactionId: "vtx_1",
    type: "POINTS_EXPIRATION",
    points: -30n,
    balance: 5n,
    campaignId: "camp_1",
    buckets: [{ id: "lopb_1", points: 30n, expiresOn: "2026-01-31" }],
  });
  const payload = toBinary(PointsMovedSchema, moved);
  const delivered = { ...EVENT, type: PointsMovedSchema.typeName, payload };
  const events = webhookEventsOf(delivered, clients).filter(({ names }) => names.length > 0);
  const bodies = await Promise.all(
    events.map(async ({ names, loadData }) => [names, JSON.parse(await loadData(serviceCall()))]),
  );
  const voucher = { object: "voucher", id: "v_1" };
  const transaction = expect.objectContaining({ id: "vtx_1", points: -30, balance: 5 });
  const bucket = {
    id: "lopb_1",
    voucher_id: "v_1",
    campaign_id: "camp_1",
    bucket: { total_points: 30 },
    status: "EXPIRED",
    expires_at: "2026-01-31",
    object: "loyalty_points_bucket",
  };
  expect(bodies).toEqual([
    [["voucher.loyalty_card.transaction.created"], { voucher, transaction }],
    [
      ["voucher.loyalty_card.points_expired"],
      { voucher, transaction, points: 30, buckets: [bucket] },
    ],
  ]);
});
