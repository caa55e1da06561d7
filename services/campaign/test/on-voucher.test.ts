import { createPgEventBus, type DeliveredEvent } from "@scrip/events";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { createDirectTransport } from "@scrip/rpc";
import { emptyDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { onVoucher, VOUCHERS_TOPIC } from "../src/events/on-voucher.ts";
import { createCampaignService } from "../src/service.ts";
import { deliver, eventOf } from "./builders.ts";
import { givenProject, startFixture } from "./deps.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const { campaigns } = fixture;
const handle = (events: readonly DeliveredEvent[]) => deliver(onVoucher(fixture.db), events);

describe("the vouchers of a campaign", () => {
  test.each<{
    readonly name: string;
    readonly batches: (campaign: Campaign) => readonly (readonly DeliveredEvent[])[];
    readonly count: bigint;
  }>([
    {
      name: "those that publications made",
      batches: ({ made }) => [[made(), made()], [made()]],
      count: 3n,
    },
    {
      name: "those that were there before they were published, not",
      batches: ({ given }) => [[given()], [given()]],
      count: 0n,
    },
    {
      name: "those that were deleted, no longer",
      batches: ({ made, gone }) => [[made(), made(), gone()], [made()], [gone()]],
      count: 1n,
    },
    {
      name: "never less than none, where some were not counted",
      batches: ({ made, gone }) => [[gone(), gone()], [made()]],
      count: 1n,
    },
  ])("counts $name, each event delivered twice", async ({ batches, count }) => {
    const campaign = await givenCampaign();
    const delivered = batches(campaign);
    for (const batch of delivered) await handle([...batch, ...batch]);
    await handle(delivered.flat());
    expect(await campaign.count()).toBe(count);
  });

  test("are lost by no handler that meets the same campaigns at once", async () => {
    const all = [await givenCampaign(), await givenCampaign(), await givenCampaign()];
    const batches = Array.from({ length: 12 }, (_, index) => {
      const events = all.flatMap(({ made, gone }) => [made(), made(), made(), gone()]);
      return index % 2 === 0 ? events : events.toReversed();
    });
    await Promise.all([...batches, ...batches].map((batch) => handle(batch)));
    for (const campaign of all) expect(await campaign.count()).toBe(24n);
  });

  test("are none of a voucher without a campaign", async () => {
    const { project } = givenProject();
    const about = { projectId: project.id, topic: VOUCHERS_TOPIC };
    await handle([eventOf(VoucherDeletedSchema, about, { projectId: project.id })]);
    const { rows } = await fixture.db.query("select 1 from inbox where project_id = $1", [
      project.id,
    ]);
    expect(rows).toEqual([]);
  });
});

test("the service handles what arrives over the bus", async () => {
  await using database = await emptyDatabase();
  const options = { databaseUrl: database.url, onError: () => {} };
  const bus = await createPgEventBus({ url: database.url, onError: options.onError });
  {
    const transports = { voucher: createDirectTransport([]) };
    await using service = await createCampaignService({ ...options, poolSize: 2, bus, transports });
    expect(await service.ready()).toBe(true);
    const { made } = await givenCampaign();
    await bus.publish([made()]);
    await expect.poll(() => bus.lag("campaign")).toEqual([]);
    await expect.poll(() => bus.lag("campaign-redemptions")).toEqual([]);
  }
  await bus.close(1_000);
});

type Campaign = Awaited<ReturnType<typeof givenCampaign>>;

async function givenCampaign() {
  const call = givenProject();
  const projectId = call.project.id;
  const discount = { type: DiscountType.PERCENT, percentOff: "10" };
  const { id } = await campaigns.createCampaign({ name: "c", voucher: { discount } }, call);
  const about = { projectId, topic: VOUCHERS_TOPIC };
  const facts = { projectId, campaignId: id };
  return {
    made: () => eventOf(VoucherPublishedSchema, about, { ...facts, generated: true }),
    given: () => eventOf(VoucherPublishedSchema, about, facts),
    gone: () => eventOf(VoucherDeletedSchema, about, facts),
    count: async () => (await campaigns.getCampaign({ campaignId: id }, call)).vouchersCount,
  };
}
