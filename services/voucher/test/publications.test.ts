import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  CampaignChanged_Change,
  CampaignChangedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import { CustomerDeletedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { lockWaits } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { CAMPAIGNS_TOPIC, onCampaign } from "../src/events/on-campaign.ts";
import { onCustomerDeleted } from "../src/events/on-customer-deleted.ts";
import { routes } from "../src/routes.ts";
import { deleteHoldings } from "../src/store/deleted-customers.ts";
import { depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const campaigns = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);
const codes = clientOf(VoucherService, transport);
const { projectId } = service;

const item = {
  voucher: {
    type: VoucherType.DISCOUNT_VOUCHER,
    discount: { type: DiscountType.PERCENT, percentOff: "10" },
  },
};

let count = 0;

/** Creates a campaign with this many vouchers; `reported` overrides its published state. */
async function createCampaign(vouchers: number, reported: object = {}) {
  count += 1;
  const campaign = { id: `camp_${count}`, name: `c${count}`, campaignType: "DISCOUNT_COUPONS" };
  await campaigns.createVouchers(
    { campaign: { ...campaign, ...reported }, items: Array.from({ length: vouchers }, () => item) },
    service.call(),
  );
  return campaign;
}

const publish = (customer: string, campaign: { readonly name: string }) =>
  publications.createPublication(
    { customer: { id: customer }, campaign: { name: campaign.name } },
    service.call(),
  );

const idOf = async (campaign: { readonly id: string }): Promise<string> => {
  const { rows } = await service.db.query<{ id: string }>(
    "select id from voucher where project_id = $1 and campaign_id = $2",
    [projectId, campaign.id],
  );
  return rows[0]?.id ?? "";
};

test("a promotion has no vouchers to publish, and is unknown once it is deleted", async () => {
  const { DELETED, CREATED } = CampaignChanged_Change;
  const promotion = { id: "camp_promotion", name: "promotion" };
  const receive = (change: CampaignChanged_Change, campaignType?: string) => {
    const { id: campaignId, name } = promotion;
    const message = { projectId, campaignId, name, change, ...(campaignType && { campaignType }) };
    const payload = toBinary(CampaignChangedSchema, create(CampaignChangedSchema, message));
    const topic = CAMPAIGNS_TOPIC;
    const event = {
      id: `event_${change}`,
      topic,
      key: campaignId,
      projectId,
      type: CampaignChangedSchema.typeName,
      payload,
      headers: {},
      occurredAt: new Date(NOON),
      partition: 0,
      offset: 0n,
    };
    const { signal } = new AbortController();
    return onCampaign(service.db)([event], { group: "voucher-campaigns", topic, signal });
  };
  await receive(CREATED, "PROMOTION");
  for (const name of [promotion.id, promotion.name]) {
    await expect(publish("cust_1", { name })).rejects.toMatchObject({
      key: "no_voucher_suitable_for_publication",
      options: { details: `Campaign ${name} is a promotion, which has no vouchers to publish` },
    });
  }
  await receive(DELETED);
  await expect(publish("cust_1", promotion)).rejects.toMatchObject({ key: "not_found" });
});

test("codes of a deleted campaign that wait for their deletion can neither be read nor published", async () => {
  const campaign = await createCampaign(2);
  const { rows } = await service.db.query<{ code: string }>(
    "select code from voucher where project_id = $1 and campaign_id = $2 order by id",
    [projectId, campaign.id],
  );
  const request = { campaignId: campaign.id, limit: 1n };
  expect(await campaigns.deleteVouchers(request, service.call())).toMatchObject({
    deletedCount: 1n,
  });
  const code = rows[1]?.code ?? "";
  const left = await service.db.query("select deleted_at from voucher where code = $1", [code]);
  expect(left.rows).toEqual([{ deleted_at: null }]);
  for (const rejected of [
    codes.getVoucher({ code }, service.call()),
    publications.createPublication({ customer: { id: "cust_1" }, voucher: code }, service.call()),
  ]) {
    await expect(rejected).rejects.toMatchObject({ key: "not_found" });
  }
});

describe("the stored campaign", () => {
  test("is stored without vouchers too, and replaced by later versions", async () => {
    const campaign = await createCampaign(0);
    await expect(publish("cust_1", campaign)).rejects.toMatchObject({
      key: "no_voucher_suitable_for_publication",
    });
    const tell = (reported: object) =>
      campaigns.updateVouchers(
        { campaignId: campaign.id, campaign: { ...campaign, ...reported } },
        service.call(),
      );
    expect(await tell({ joinOnce: true, template: item })).toMatchObject({ updatedCount: 0n });
    const first = await publish("cust_1", campaign);
    expect((await publish("cust_1", campaign)).id).toBe(first.id);
    await tell({ joinOnce: false, template: item });
    expect((await publish("cust_1", campaign)).id).not.toBe(first.id);
    await tell({});
    await expect(publish("cust_2", campaign)).rejects.toMatchObject({
      key: "no_voucher_suitable_for_publication",
    });
  });

  test("stays when an update of its vouchers does not include it", async () => {
    const campaign = await createCampaign(0, { template: item });
    await campaigns.updateVouchers(
      { campaignId: campaign.id, categoryId: "cat_1", updateMask: { paths: ["category_id"] } },
      service.call(),
    );
    expect((await publish("cust_1", campaign)).voucher?.campaignId).toBe(campaign.id);
  });
});

test("a voucher that is published while its customer is deleted keeps its holder", async () => {
  const campaign = await createCampaign(1);
  await publish("cust_gone", campaign);
  await deleteHoldings(service.db, { projectId, customerId: "cust_gone" });
  const { rows } = await service.db.query(
    `select v.holder_id, h.customer_id
       from voucher v
       left join redeemable_holder h on h.project_id = v.project_id and h.voucher_id = v.id
      where v.project_id = $1 and v.campaign_id = $2`,
    [projectId, campaign.id],
  );
  expect(rows).toEqual([{ holder_id: "cust_gone", customer_id: "cust_gone" }]);
});

test("a voucher that is deleted while its customer is deleted has no holder", async () => {
  const campaign = await createCampaign(1);
  await publish("cust_left", campaign);
  const customer = { projectId, customerId: "cust_left" };
  const { db } = service;
  let statements = 0;
  const query: typeof db.query = async (...args) => {
    const result = await db.query(...args);
    statements += 1;
    if (statements === 1) {
      await db.query(
        "update voucher set deleted_at = now() where project_id = $1 and campaign_id = $2",
        [projectId, campaign.id],
      );
    }
    return result as never;
  };
  await onCustomerDeleted({ ...db, query })([deletionOf(customer)], {
    group: "vouchers",
    topic: "scrip.customers.v1",
    signal: new AbortController().signal,
  });
  const { rows } = await db.query(
    `select v.holder_id, h.customer_id
       from voucher v
       left join redeemable_holder h on h.project_id = v.project_id and h.voucher_id = v.id
      where v.project_id = $1 and v.campaign_id = $2`,
    [projectId, campaign.id],
  );
  expect(rows).toEqual([{ holder_id: null, customer_id: null }]);
});

const deletionOf = (customer: { readonly projectId: string; readonly customerId: string }) => ({
  id: "evt_deleted",
  topic: "scrip.customers.v1",
  key: customer.customerId,
  projectId: customer.projectId,
  type: CustomerDeletedSchema.typeName,
  payload: toBinary(CustomerDeletedSchema, create(CustomerDeletedSchema, customer)),
  headers: {},
  occurredAt: new Date(),
  partition: 0,
  offset: 0n,
});

test("emits an event for each published voucher that states whether it was generated", async () => {
  const campaign = await createCampaign(1, { template: item });
  const { id, vouchersId } = await publications.createPublication(
    { customer: { id: "cust_9" }, campaign: { name: campaign.id, count: 2n }, channel: "shop" },
    service.call(),
  );
  const { rows } = await service.db.query<{ key: string; payload: Uint8Array }>(
    "select key, payload from outbox where type = $1 order by id",
    [VoucherPublishedSchema.typeName],
  );
  const reported = rows
    .map(({ key, payload }) => ({ key, event: fromBinary(VoucherPublishedSchema, payload) }))
    .filter(({ event }) => event.publicationId === id);
  expect(reported.map(({ key }) => key)).toEqual(vouchersId);
  expect(reported.map(({ event }) => event.generated)).toEqual([false, true]);
  expect(reported[0]?.event).toMatchObject({
    projectId,
    voucherId: vouchersId[0],
    campaignId: campaign.id,
    customerId: "cust_9",
    holderId: expect.stringMatching(/^rh_/),
    channel: "shop",
  });
});

describe("the last voucher of a campaign, locked by another publication", () => {
  test("is published after the other publication rolls back", async () => {
    const campaign = await createCampaign(1);
    const id = await idOf(campaign);
    let taken: ReturnType<typeof publish> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.query("select from voucher_usage where voucher_id = $1 for no key update", [id]);
      taken = publish("cust_1", campaign);
      await expect.poll(() => lockWaits(service.db.url)).toBe(1);
    });
    expect((await taken)?.vouchersId).toEqual([id]);
  });

  test("is rejected after the other publication commits", async () => {
    const campaign = await createCampaign(1);
    const id = await idOf(campaign);
    let rejected: Promise<unknown> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.query("select from voucher_usage where voucher_id = $1 for no key update", [id]);
      rejected = publish("cust_1", campaign).catch((error: unknown) => error);
      await expect.poll(() => lockWaits(service.db.url)).toBe(1);
      await tx.query("update voucher set active = false where id = $1", [id]);
    });
    expect(await rejected).toMatchObject({ key: "no_voucher_suitable_for_publication" });
  });
});
