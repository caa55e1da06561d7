import { fromBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId } from "@scrip/ids";
import {
  LoyaltyCardChangedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { checkInvariants, depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(async () => {
  await checkInvariants(service);
  await service[Symbol.asyncDispose]();
});
const transport = createDirectTransport(routes(depsOf(service.db)));
const campaigns = clientOf(CampaignVoucherService, transport);
const publications = clientOf(PublicationService, transport);
const imports = clientOf(VoucherImportService, transport);

/** A program with one card; its limits are those of the card. */
async function createCard(limits: object = {}) {
  const id = newId("camp");
  const program = { id, name: id, campaignType: "LOYALTY_PROGRAM" };
  const voucher = { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n }, ...limits };
  await campaigns.createVouchers({ campaign: program, items: [{ voucher }] }, service.call());
  const customer = { id: newId("cust") };
  const join = () => publications.createMember({ campaignId: id, customer }, service.call());
  return { program, join };
}

/** What was published about a card, in its order. */
async function published(voucherId: string) {
  const { rows } = await service.db.query<{ type: string; payload: Uint8Array }>(
    "select type, payload from outbox where key = $1 order by id",
    [voucherId],
  );
  return rows.map(({ type, payload }) =>
    type === LoyaltyCardChangedSchema.typeName
      ? fromBinary(LoyaltyCardChangedSchema, payload)
      : type.slice(type.lastIndexOf(".") + 1),
  );
}

test("a card without limits is published without its state", async () => {
  const { join } = await createCard();
  const { id } = await join();
  expect(await published(id)).toEqual([VoucherPublishedSchema.name]);
});

test("the state of a card with dates is published before its publication", async () => {
  const expirationDate = timestampFromMs(NOON + 1_000);
  const { join } = await createCard({ expirationDate });
  const { id } = await join();
  expect(await published(id)).toMatchObject([
    { voucherId: id, projectId: service.projectId, active: true, expirationDate },
    VoucherPublishedSchema.name,
  ]);
});

test("each change of the state of a member's card is published with a higher version, other changes are not", async () => {
  const { join } = await createCard();
  const { id, code } = await join();
  const { vouchers } = service;
  const startDate = timestampFromMs(NOON - 1_000);
  await vouchers.disableVoucher({ code }, service.call());
  await vouchers.disableVoucher({ code }, service.call());
  await vouchers.updateVoucher(
    { code, metadata: { level: 1 }, updateMask: { paths: ["metadata"] } },
    service.call(),
  );
  await vouchers.updateVoucher(
    { code, startDate, updateMask: { paths: ["start_date"] } },
    service.call(),
  );
  await vouchers.enableVoucher({ code }, service.call());
  const [publication, ...states] = await published(id);
  expect(publication).toBe(VoucherPublishedSchema.name);
  expect(states).toMatchObject([
    { active: false, version: 3n },
    { active: false, startDate, version: 5n },
    { active: true, startDate, version: 6n },
  ]);
});

test("nothing is published about a card without holder, or about another type of voucher", async () => {
  const { program } = await createCard();
  const { rows } = await service.db.query<{ id: string; code: string }>(
    "select id, code from voucher where campaign_id = $1",
    [program.id],
  );
  const [card] = rows;
  await service.vouchers.disableVoucher({ code: card!.code }, service.call());
  expect(await published(card!.id)).toEqual([]);
  const gift = await service.vouchers.createVoucher(
    { type: VoucherType.GIFT_VOUCHER, gift: { amount: 1n } },
    service.call(),
  );
  const to = { customer: { id: newId("cust") }, voucher: gift.code, channel: "shop" };
  await publications.createPublication(to, service.call());
  await service.vouchers.disableVoucher({ code: gift.code }, service.call());
  expect(await published(gift.id)).toEqual([VoucherPublishedSchema.name]);
});

test("an import that sets the state of members' cards publishes it, one that leaves it does not", async () => {
  const { program, join } = await createCard();
  const { id, code } = await join();
  const item = { voucher: { code, type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } } };
  const importItem = (fields: object) =>
    imports.importVouchers(
      { campaign: program, updatesExisting: true, items: [{ ...item, ...fields }] },
      service.call(),
    );
  await importItem({ setsCategory: true });
  await importItem({ setsActive: true, voucher: { ...item.voucher, active: false } });
  expect(await published(id)).toMatchObject([
    VoucherPublishedSchema.name,
    { active: false, version: 4n },
  ]);
});
