import { type DeliveredEvent, INTERNAL, type Origin, originHeaders, originOf } from "@scrip/events";
import { CardRequestedSchema } from "@scrip/proto/scrip/events/v1/customers_pb";
import { LoyaltyTierChangedSchema } from "@scrip/proto/scrip/events/v1/loyalty_tiers_pb";
import {
  PendingPointsChangedSchema,
  PointsMovedSchema,
} from "@scrip/proto/scrip/events/v1/points_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onPointsMoved } from "../src/events/on-points-moved.ts";
import { POINTS_TOPIC } from "../src/events/topics.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { deliveryFrom, NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { DAY, earningIn, PER_EURO } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;
const { earn, publish, setUp, join } = earningIn(loyalty);

const ordered: Origin = {
  requestId: "v-0123456789abcdef01",
  caller: { side: "server", id: "app_1", name: "POS" },
};
const joined: Origin = {
  requestId: "v-0123456789abcdef02",
  caller: { side: "client", id: "client_1", name: "Web" },
};

const causedBy = (origin: Origin, event: DeliveredEvent): DeliveredEvent => ({
  ...event,
  headers: originHeaders(origin),
});

/** The events of a type that the service wrote, as they are delivered. */
async function written(projectId: string, { typeName }: { readonly typeName: string }) {
  const { rows } = await db.query<{
    id: string;
    key: string;
    payload: Uint8Array;
    headers: Record<string, string> | null;
  }>(
    "select id, key, payload, headers from outbox where project_id = $1 and type = $2 order by seq",
    [projectId, typeName],
  );
  return rows.map(({ headers, ...row }): DeliveredEvent => ({
    ...row,
    projectId,
    topic: POINTS_TOPIC,
    type: typeName,
    headers: headers ?? {},
    occurredAt: new Date(NOON),
    partition: 0,
    offset: 0n,
  }));
}

const PENDING = { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } };

describe("the origin of events that another event causes", () => {
  test("is that of the event: points that an order earns, and the tier that they reach", async () => {
    const program = await setUp([PER_EURO]);
    const { customerId } = await join(program);
    const gold = { name: "Gold", points: { from: 10n } };
    const { campaignId, call, projectId } = program;
    await loyalty.tiers.createLoyaltyTiers({ campaignId, tiers: [gold] }, call);
    await earn([causedBy(ordered, program.paid(customerId, 1_000n))]);
    const moved = await written(projectId, PointsMovedSchema);
    expect(moved.map(originOf)).toEqual([ordered]);
    await onPointsMoved(createDeps(db))(moved, deliveryFrom(POINTS_TOPIC));
    const changed = await written(projectId, LoyaltyTierChangedSchema);
    expect(changed.map(originOf)).toEqual([ordered]);
  });

  test("is shown by pending points, which have the event itself without an origin", async () => {
    const program = await setUp([PENDING]);
    const { customerId } = await join(program);
    const [known, unknown] = [1_000n, 2_000n].map((amount) => program.paid(customerId, amount));
    await earn([causedBy(ordered, known!), unknown!]);
    const { data } = await loyalty.pendingPoints.listPendingPoints(
      { campaignId: program.campaignId, order: "id" },
      program.call,
    );
    expect(data.map(({ details }) => details?.["event"])).toMatchObject([
      {
        id: known!.id,
        group_id: ordered.requestId,
        event_source: { channel: "API", api_key: { name: "POS", app_id: "app_1" } },
      },
      { id: unknown!.id, group_id: unknown!.id, event_source: { channel: "API" } },
    ]);
    const added = await written(program.projectId, PendingPointsChangedSchema);
    expect(added.map(originOf)).toEqual([ordered, undefined]);
  });

  test("is that of the order for points that waited for a card, not of the card", async () => {
    const program = await setUp([PER_EURO], { autoJoin: true });
    const { projectId } = program;
    const customerId = await program.newCustomer();
    await earn([causedBy(ordered, program.paid(customerId, 1_000n))]);
    const requests = await written(projectId, CardRequestedSchema);
    expect(requests.map(originOf)).toEqual([ordered]);
    await publish([causedBy(joined, program.published(customerId, { at: NOON + DAY }))]);
    expect((await written(projectId, PointsMovedSchema)).map(originOf)).toEqual([ordered]);
  });

  test("is that of the call for points that a request moves, and internal for points that expire", async () => {
    const program = await setUp([]);
    const { projectId, call, campaignId } = program;
    const { cardId } = await join(program);
    const card = { projectId, cardId, initialPoints: 0n, campaignId };
    const adjust = { card, operationId: "op_1", points: 5n, expirationType: "PROGRAM_RULES" };
    await loyalty.cards.adjustPoints(adjust, { ...call, now: NOON });
    const now = NOON + 90 * DAY;
    await runDueNights(createDeps(db), { projectId, timeZone: "UTC", now });
    const moved = await written(projectId, PointsMovedSchema);
    expect(moved.map(originOf)).toEqual([
      { requestId: call.requestId, caller: call.caller },
      INTERNAL,
    ]);
  });
});
