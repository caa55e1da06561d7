import { create, toBinary } from "@bufbuild/protobuf";
import { CustomerSchema } from "@scrip/proto/scrip/common/v1/customer_pb";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { CommitOutcomeSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { expect, test } from "vitest";

import {
  completeOutcome,
  incompleteRedemptions,
  type RowMessages,
  storedOutcomeToBinary,
} from "./stored-outcome.ts";

const order = create(OrderSchema, { id: "ord_1", sourceId: "checkout-1", amount: 1_000n });
const customer = create(CustomerSchema, { id: "cust_1", name: "Ada" });
const date = { seconds: 1_795_465_030n, nanos: 944_000_000 };
const row = {
  order: toBinary(OrderSchema, order),
  customer: toBinary(CustomerSchema, customer),
  customerId: "cust_1",
  trackingId: "track_1",
  createdAt: 1_795_465_030_944,
  channelId: "app_1",
  channelType: "API",
};
const common = {
  date,
  customer,
  customerId: "cust_1",
  trackingId: "track_1",
  channel: { channelId: "app_1", channelType: "API" },
};
const stack = create(CommitOutcomeSchema, {
  outcome: {
    case: "committed",
    value: {
      redemptions: [
        { ...common, id: "r_1", order, redemption: "r_3" },
        {
          ...common,
          id: "r_2",
          redemption: "r_3",
          date: { ...date, nanos: 944_000_001 },
          channel: { channelType: "API" },
        },
      ],
      parentRedemption: { ...common, id: "r_3", order },
    },
  },
});

test("restores an outcome byte by byte from the rows of its redemptions", () => {
  const original = toBinary(CommitOutcomeSchema, stack);
  const stored = storedOutcomeToBinary(stack);
  for (const part of ["checkout-1", "cust_1", "track_1", "app_1"]) {
    expect(Buffer.from(stored).includes(part)).toBe(false);
  }
  expect(incompleteRedemptions(stored)).toEqual(["r_1", "r_2", "r_3"]);
  const rows = new Map<string, RowMessages>([
    ["r_1", row],
    ["r_2", { ...row, order: null, channelId: "" }],
    ["r_3", row],
  ]);
  expect([...completeOutcome(stored, rows)]).toEqual([...original]);
});

test("returns an outcome that an earlier release stored in full as it is", () => {
  const original = toBinary(CommitOutcomeSchema, stack);
  expect([...completeOutcome(original, new Map())]).toEqual([...original]);
});

test("restores a redemption without a customer, an order and a channel", () => {
  const anonymous = create(CommitOutcomeSchema, {
    outcome: { case: "committed", value: { redemptions: [{ id: "r_1", date }] } },
  });
  const nothing = {
    order: null,
    customer: null,
    customerId: null,
    trackingId: null,
    channelId: "",
  };
  const rows = new Map([["r_1", { ...row, ...nothing }]]);
  const stored = storedOutcomeToBinary(anonymous);
  expect([...completeOutcome(stored, rows)]).toEqual([...toBinary(CommitOutcomeSchema, anonymous)]);
});

test("returns an outcome without the data of a deleted customer", () => {
  const stored = storedOutcomeToBinary(stack);
  expect([...completeOutcome(stored, new Map())]).toEqual([...stored]);
});

test("stores a rejection as it is", () => {
  const rejected = create(CommitOutcomeSchema, {
    outcome: { case: "rejected", value: { key: "quantity_exceeded" } },
  });
  const bytes = toBinary(CommitOutcomeSchema, rejected);
  expect([...storedOutcomeToBinary(rejected)]).toEqual([...bytes]);
  expect(incompleteRedemptions(bytes)).toEqual([]);
});
