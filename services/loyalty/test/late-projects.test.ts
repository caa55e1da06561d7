import { setTimeout as sleep } from "node:timers/promises";

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createPgEventBus, originHeaders } from "@scrip/events";
import { newId } from "@scrip/ids";
import { PROJECTS_TOPIC } from "@scrip/projects";
import { ProjectChangedSchema } from "@scrip/proto/scrip/events/v1/projects_pb";
import { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { migratedDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { createLoyaltyService } from "../src/service.ts";
import { newEvent, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn } from "./earning-programs.ts";
import { SILVER, voucherOf } from "./tier-programs.ts";

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
const loyalty = parts.use(await startLoyalty());
const { url } = parts.use(await migratedDatabase("events"));
const errors: string[] = [];
const onError = ({ message }: Error): unknown => errors.push(message);
const bus = await createPgEventBus({ url, onError });
parts.defer(() => bus.close(1_000));
const service = parts.use(
  await createLoyaltyService({ databaseUrl: loyalty.db.url, poolSize: 10, bus, onError }),
);
const tiers = clientOf(LoyaltyTierService, createDirectTransport(service.implementations));
const { setUp } = earningIn(loyalty);

/** Time for a consumer that does not wait to handle an event. */
const PAUSE_MS = 300;

test("a member joins a tier in the time zone that the request has seen, however late the project arrives", async () => {
  const program = await setUp([]);
  const { projectId, campaignId, call } = program;
  await tiers.createLoyaltyTiers({ campaignId, tiers: [SILVER] }, call);
  const cardId = newId("v");
  const customerId = await program.newCustomer();
  // In Tokyo it is the next day.
  const at = NOON + 6 * 3_600_000;
  const published = program.published(customerId, { cardId, at, loyaltyPoints: 150n });
  const headers = originHeaders({ ...call, project: { version: 2n } });
  await bus.publish([{ ...published, headers }]);
  const arrive = async (version: bigint, change: object = {}): Promise<void> => {
    await sleep(PAUSE_MS);
    const settings = { timeZone: "UTC", firstWeekday: 1, caseSensitiveCodes: true, ...change };
    const event = newEvent(
      ProjectChangedSchema,
      { projectId, topic: PROJECTS_TOPIC },
      { projectId, version, ...settings },
    );
    await bus.publish([event]);
  };
  await arrive(1n);
  await arrive(2n, { timeZone: "Asia/Tokyo", sandboxNow: timestampFromMs(at) });
  const startDate = async () => {
    const request = { memberId: cardId, voucher: voucherOf(cardId, campaignId) };
    return (await tiers.listMemberTiers(request, call)).data[0]?.expiration?.startDate;
  };
  await expect.poll(startDate, { timeout: 10_000 }).toBe("2026-03-02");
});

test("a project that never arrives does not stop the consumer", async () => {
  const program = await setUp([]);
  const { campaignId, call } = program;
  await tiers.createLoyaltyTiers({ campaignId, tiers: [SILVER] }, call);
  const cardId = newId("v");
  const customerId = await program.newCustomer();
  const published = program.published(customerId, { cardId, loyaltyPoints: 150n });
  await bus.publish([published]);
  const request = { memberId: cardId, voucher: voucherOf(cardId, campaignId) };
  const count = async () => (await tiers.listMemberTiers(request, call)).data.length;
  await expect.poll(count, { timeout: 20_000 }).toBe(1);
  expect(errors).toEqual([`loyalty-projects has waited in vain for ${program.projectId}`]);
});
