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
const messages = {
  order: toBinary(OrderSchema, order),
  customer: toBinary(CustomerSchema, customer),
  trackingId: "track_1",
};
const stack = create(CommitOutcomeSchema, {
  outcome: {
    case: "committed",
    value: {
      redemptions: [
        { id: "r_1", order, customer, trackingId: "track_1", redemption: "r_3" },
        { id: "r_2", customer, trackingId: "track_1", redemption: "r_3" },
      ],
      parentRedemption: { id: "r_3", order, customer, trackingId: "track_1" },
    },
  },
});

test("restores an outcome byte by byte from the rows of its redemptions", () => {
  const original = toBinary(CommitOutcomeSchema, stack);
  const stored = storedOutcomeToBinary(stack);
  expect(Buffer.from(stored).includes("checkout-1")).toBe(false);
  expect(incompleteRedemptions(stored)).toEqual(["r_1", "r_2", "r_3"]);
  const rows = new Map<string, RowMessages>([
    ["r_1", messages],
    ["r_2", { ...messages, order: null }],
    ["r_3", messages],
  ]);
  expect([...completeOutcome(stored, rows)]).toEqual([...original]);
});

test("returns an outcome that an earlier release stored in full as it is", () => {
  const original = toBinary(CommitOutcomeSchema, stack);
  expect([...completeOutcome(original, new Map())]).toEqual([...original]);
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
