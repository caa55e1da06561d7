import { create, toBinary } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import { PointsMovedSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { serviceCall } from "@scrip/rpc";
import { expect, test } from "vitest";

import type { Clients } from "../clients.ts";
import { webhookEventsOf } from "./event-sources.ts";

const reject = () => Promise.reject(notFound("voucher", "v_1"));
const vouchers = { getVoucher: reject };
const transactions = { listCardTransactions: reject };
// The voucher was deleted; only it and its transactions are loaded.
const clients = { vouchers, transactions } as unknown as Clients;

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
  const events = webhookEventsOf(
    {
      id: "event_1",
      topic: "scrip.points.v1",
      key: "v_1",
      projectId: "proj_1",
      type: PointsMovedSchema.typeName,
      payload: toBinary(PointsMovedSchema, moved),
      headers: {},
      occurredAt: new Date(),
      partition: 0,
      offset: 0n,
    },
    clients,
  ).filter(({ names }) => names.length > 0);
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
