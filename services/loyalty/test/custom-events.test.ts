import { fromBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import { CustomEventReceivedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, customEvents, customers } = loyalty;

const publishedEvents = async (projectId: string) => {
  const { rows } = await db.query<{ payload: Uint8Array; key: string; type: string }>(
    "select payload, key, type from outbox where project_id = $1 and topic <> 'scrip.audit.v1' order by created_at, id",
    [projectId],
  );
  return rows.map(({ payload }) => fromBinary(CustomEventReceivedSchema, payload));
};

const voucherOf = (holderId: string | undefined, is: "card" | "referral") => ({
  id: newId("v"),
  code: "CODE",
  campaignId: "camp_1",
  ...(holderId !== undefined && { holderId }),
  isLoyaltyCard: is === "card",
  isReferralCode: is === "referral",
});

describe("createCustomEvent", () => {
  test("creates the customer, stores the event and publishes it once", async () => {
    const call = newCall();
    const metadata = { pages: 3 };
    const customer = { sourceId: "ada", name: "Ada", metadata: { tier: "gold" } };
    const event = await customEvents.createCustomEvent(
      { event: "viewed", customer, metadata },
      call,
    );
    expect(event).toMatchObject({ type: "viewed", metadata });
    expect(event.customer).toMatchObject({
      sourceId: "ada",
      name: "Ada",
      metadata: { tier: "gold" },
    });
    expect(event.referral).toBeUndefined();
    const [published, ...others] = await publishedEvents(call.project.id);
    expect(others).toEqual([]);
    expect(published).toMatchObject({
      name: "viewed",
      customerId: event.customer!.id,
      metadata,
    });
    expect(published?.eventId).toMatch(/^event_/);
    const deleted = await customers.deleteCustomerPermanently({ customerId: "ada" }, call);
    expect(deleted.dataJson?.events).toBe(1n);
  });

  test("rejects an unknown customer id and a customer without ids, and stores nothing", async () => {
    const call = newCall();
    const post = (customer: { id?: string; name?: string }) =>
      customEvents.createCustomEvent({ event: "viewed", customer }, call);
    await expect(post({ id: "cust_1" })).rejects.toThrow(/not found/i);
    await expect(post({ name: "Ada" })).rejects.toThrow(/payload/i);
    expect(await publishedEvents(call.project.id)).toEqual([]);
  });

  test("accepts any event without schemas, and only events with a schema from the first one on", async () => {
    const call = newCall();
    const post = (event: string, metadata = {}) =>
      customEvents.createCustomEvent({ event, customer: { sourceId: "ada" }, metadata }, call);
    await post("anything");
    const schema = {
      properties: {
        amount: { type: "number", optional: false, deleted: false },
        at: { type: "datetime", optional: true, deleted: false },
        old: { type: "string", optional: false, deleted: true },
      },
    };
    const { id } = await customEvents.createCustomEventSchema({ name: "paid", schema }, call);
    await expect(post("anything")).rejects.toThrow(/not found/i);
    await post("paid", { amount: 3, other: "kept" });
    expect((await publishedEvents(call.project.id)).at(-1)).toMatchObject({
      schemaId: id,
      metadata: { amount: 3, other: "kept" },
    });
    for (const metadata of [{}, { amount: null }, { amount: "3" }, { amount: 3, at: "noon" }]) {
      await expect(post("paid", metadata)).rejects.toThrow(/metadata/i);
    }
  });

  test("takes points to a card of the customer only, and converts a code of another customer only", async () => {
    const call = newCall();
    const ada = await customers.createCustomer({ sourceId: "ada" }, call);
    const ben = await customers.createCustomer({ sourceId: "ben" }, call);
    const post = (parts: object) =>
      customEvents.createCustomEvent({ event: "e", customer: { id: ada.id }, ...parts }, call);
    const card = voucherOf(ada.id, "card");
    const code = voucherOf(ben.id, "referral");
    await post({ loyalty: { code: "C", voucher: card }, referral: { code: "R", voucher: code } });
    expect(await publishedEvents(call.project.id)).toMatchObject([
      { loyaltyCardId: card.id, referral: { voucherId: code.id, referrerId: ben.id } },
    ]);
    const rejected = async (parts: object, error: RegExp) =>
      expect(post(parts)).rejects.toThrow(error);
    const loyaltyOf = (voucher: object) => ({ loyalty: { code: "C", voucher } });
    const referralOf = (voucher: object, more = {}) => ({
      referral: { code: "R", voucher, ...more },
    });
    await rejected({ loyalty: { code: "C" } }, /not found/i);
    await rejected(loyaltyOf(voucherOf(ben.id, "card")), /Invalid customer/);
    await rejected(loyaltyOf(code), /Invalid voucher/);
    await rejected(referralOf(card), /Invalid voucher/);
    await rejected(referralOf(voucherOf(undefined, "referral")), /Invalid customer/);
    await rejected(referralOf(code, { referrerId: "cust_other" }), /Invalid customer/);
    await rejected(referralOf(voucherOf(ada.id, "referral")), /referrer/);
    expect(await publishedEvents(call.project.id)).toHaveLength(1);
  });

  test.each(["order.paid", "customer.segment.entered", "customer.loyalty.tier.joined"])(
    "rejects %s, which only Scrip reports, also as the name of a schema",
    async (event) => {
      const call = newCall();
      const rejected = {
        key: "invalid_payload",
        options: { details: expect.stringContaining(event) },
      };
      const customer = { sourceId: "ada" };
      await expect(customEvents.createCustomEvent({ event, customer }, call)).rejects.toMatchObject(
        rejected,
      );
      await expect(
        customEvents.createCustomEventSchema({ name: event }, call),
      ).rejects.toMatchObject(rejected);
      expect(await publishedEvents(call.project.id)).toEqual([]);
    },
  );

  test("takes only the ids of a customer from client-side callers, and returns only those", async () => {
    const call = newCall();
    const post = (side: "client" | "server", customer: object) =>
      customEvents.createCustomEvent(
        { event: "e", customer: { sourceId: "ada", ...customer } },
        { ...call, caller: { side, id: "app_test" } },
      );
    await post("server", { name: "Ada", metadata: { secret: 1 } });
    const { customer } = await post("client", { name: "Eve" });
    expect(customer).toMatchObject({ sourceId: "ada", metadata: {} });
    expect(customer?.name).toBeUndefined();
    const stored = await customers.getCustomer({ customerId: "ada" }, call);
    expect(stored.name).toBe("Ada");
  });
});

describe("custom event schemas", () => {
  test("are created once per name, merged by definition, listed and deleted", async () => {
    const call = newCall();
    const number = { type: "number", optional: false, deleted: false };
    const text = { type: "string", optional: true, deleted: false };
    const create = (name: string) =>
      customEvents.createCustomEventSchema({ name, schema: { properties: { a: number } } }, call);
    const { id: schemaId } = await create("paid");
    await expect(create("paid")).rejects.toThrow(/Duplicated/);
    const change = { schemaId, schema: { properties: { a: text, b: number } } };
    const updated = await customEvents.updateCustomEventSchema(change, call);
    expect(updated.schema?.properties).toMatchObject({ a: text, b: number });
    expect(updated.updatedAt).toBeDefined();
    await create("viewed");
    const { data, total } = await customEvents.listCustomEventSchemas({}, call);
    expect(data.map(({ name }) => name)).toEqual(["viewed", "paid"]);
    expect(total).toBe(2n);
    expect(await customEvents.getCustomEventSchema({ schemaId }, call)).toEqual(updated);
    await customEvents.deleteCustomEventSchema({ schemaId }, call);
    const gone = /not found/i;
    await expect(customEvents.deleteCustomEventSchema({ schemaId }, call)).rejects.toThrow(gone);
    await expect(customEvents.getCustomEventSchema({ schemaId }, call)).rejects.toThrow(gone);
    await expect(customEvents.updateCustomEventSchema(change, call)).rejects.toThrow(gone);
  });
});
