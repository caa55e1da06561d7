import { createPgEventBus, type DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { createDirectTransport } from "@scrip/rpc";
import { migratedDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { onVoucher, VOUCHERS_TOPIC } from "../src/events/on-voucher.ts";
import { createCampaignService } from "../src/service.ts";
import { deliver, newCall, newCoupons, newEvent } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, db } = service;
const handle = (events: readonly DeliveredEvent[]) => deliver(onVoucher(db, newId), events);

describe("onVoucher", () => {
  test.each<{
    readonly name: string;
    readonly batches: (campaign: Campaign) => readonly (readonly DeliveredEvent[])[];
    readonly count: bigint;
  }>([
    {
      name: "vouchers that publications created",
      batches: ({ generated }) => [[generated(), generated()], [generated()]],
      count: 3n,
    },
    {
      name: "no voucher that existed before its publication",
      batches: ({ published }) => [[published()], [published()]],
      count: 0n,
    },
    {
      name: "deleted vouchers no longer",
      batches: ({ generated, deleted }) => [
        [generated(), generated(), deleted()],
        [generated()],
        [deleted()],
      ],
      count: 1n,
    },
    {
      name: "never below 0 when deleted vouchers were not counted",
      batches: ({ generated, deleted }) => [[deleted(), deleted()], [generated()]],
      count: 1n,
    },
  ])("counts $name, each event delivered twice", async ({ batches, count }) => {
    const campaign = await newCampaignWithEvents();
    const delivered = batches(campaign);
    for (const batch of delivered) await handle([...batch, ...batch]);
    await handle(delivered.flat());
    expect(await campaign.count()).toBe(count);
  });

  test("loses no count when handlers update the same campaigns concurrently", async () => {
    const all = [
      await newCampaignWithEvents(),
      await newCampaignWithEvents(),
      await newCampaignWithEvents(),
    ];
    const batches = Array.from({ length: 12 }, (_, index) => {
      const events = all.flatMap(({ generated, deleted }) => [
        generated(),
        generated(),
        generated(),
        deleted(),
      ]);
      return index % 2 === 0 ? events : events.toReversed();
    });
    await Promise.all([...batches, ...batches].map((batch) => handle(batch)));
    for (const campaign of all) expect(await campaign.count()).toBe(24n);
  });

  test("skips vouchers without a campaign", async () => {
    const { project } = newCall();
    const about = { projectId: project.id, topic: VOUCHERS_TOPIC };
    await handle([newEvent(VoucherDeletedSchema, about, { projectId: project.id })]);
    const { rows } = await db.query("select 1 from inbox where project_id = $1", [project.id]);
    expect(rows).toEqual([]);
  });
});

test("the service is subscribed to the bus", async () => {
  await using database = await migratedDatabase();
  const options = { databaseUrl: database.url, onError: () => {} };
  const bus = await createPgEventBus({ url: database.url, onError: options.onError });
  {
    const transports = { voucher: createDirectTransport([]) };
    await using started = await createCampaignService({
      ...options,
      poolSize: 2,
      maxVouchers: 100,
      bus,
      transports,
    });
    expect(await started.ready()).toBeUndefined();
    const { generated } = await newCampaignWithEvents();
    await bus.publish([generated()]);
    await expect.poll(() => bus.lag("campaign")).toEqual([]);
    await expect.poll(() => bus.lag("campaign-redemptions")).toEqual([]);
  }
  await bus.close(1_000);
});

type Campaign = Awaited<ReturnType<typeof newCampaignWithEvents>>;

async function newCampaignWithEvents() {
  const call = newCall();
  const projectId = call.project.id;
  const { id } = await newCoupons(service, call);
  const about = { projectId, topic: VOUCHERS_TOPIC };
  const ids = { projectId, campaignId: id };
  return {
    generated: () => newEvent(VoucherPublishedSchema, about, { ...ids, generated: true }),
    published: () => newEvent(VoucherPublishedSchema, about, ids),
    deleted: () => newEvent(VoucherDeletedSchema, about, ids),
    count: async () => (await campaigns.getCampaign({ campaignId: id }, call)).vouchersCount,
  };
}
