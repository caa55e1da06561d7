import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type Origin, originHeaders } from "@scrip/events";
import { newId } from "@scrip/ids";
import { AutoRedemptionHeldSchema } from "@scrip/proto/scrip/events/v1/points_pb";
import { RedemptionMadeSchema } from "@scrip/proto/scrip/events/v1/redemptions_pb";
import {
  CardService,
  type ResolvePointsHoldsRequest,
  ResolvePointsHoldsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { onAutoRedemption, POINTS_TOPIC } from "../src/events/on-auto-redemption.ts";
import { checkInvariants, depsOf, NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const { db, projectId } = service;
const HOUR_MS = 3_600_000;

/** A card whose points loyalty has held, and the consumer of the event about it. */
async function setUp({
  ageMs = 0,
  origin,
  webhookEvents,
}: {
  readonly ageMs?: number;
  readonly origin?: Origin;
  readonly webhookEvents?: readonly string[];
} = {}) {
  const card = await service.vouchers.createVoucher(
    { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 100n } },
    service.call(),
  );
  const holdId = newId("ps");
  const released: string[] = [];
  let failures = 0;
  const loyalty = {
    service: CardService,
    handlers: {
      resolvePointsHolds: ({ resolutions }: ResolvePointsHoldsRequest) => {
        if (failures > 0) {
          failures -= 1;
          return Promise.reject(new Error("loyalty has failed"));
        }
        released.push(...resolutions.map((one) => one.redemptionId ?? "released"));
        return Promise.resolve(create(ResolvePointsHoldsResponseSchema));
      },
    },
  };
  const project = { ...service.call().project, webhookEvents };
  const handle = onAutoRedemption({
    ...depsOf(db),
    cards: clientOf(CardService, createDirectTransport([loyalty])),
    findProject: () => ({ project, sandboxNow: NOON, deleted: false }),
  });
  const event: DeliveredEvent = {
    id: newId("event"),
    topic: POINTS_TOPIC,
    key: card.id,
    projectId,
    type: AutoRedemptionHeldSchema.typeName,
    payload: toBinary(
      AutoRedemptionHeldSchema,
      create(AutoRedemptionHeldSchema, {
        projectId,
        cardId: card.id,
        customerId: "cust_1",
        holdId,
        points: 100n,
        cardPoints: 100n,
        redeemedPoints: 100n,
        date: timestampFromMs(NOON),
        reward: { id: "rew_1", type: "MATERIAL", parameters: { product: { id: "prod_1" } } },
        quantity: 1n,
        assignmentId: "rewa_1",
      }),
    ),
    headers: origin === undefined ? {} : originHeaders(origin),
    occurredAt: new Date(Date.now() - ageMs),
    partition: 0,
    offset: 0n,
  };
  return {
    card,
    holdId,
    released,
    failNext: () => void (failures += 1),
    deliver: () =>
      handle([event], {
        group: "voucher-auto-redemptions",
        topic: POINTS_TOPIC,
        signal: new AbortController().signal,
      }),
  };
}

/** The redemption that claimed a hold; null: it was released. */
const claims = async (holdId: string) => {
  const { rows } = await db.query<{ redemption_id: string | null }>(
    "select redemption_id from points_claim where project_id = $1 and spend_id = $2",
    [projectId, holdId],
  );
  return rows.map((row) => row.redemption_id);
};
const REDEMPTION: unknown = expect.stringMatching(/^r_/);

test("an automatic redemption names the request that moved the points, in projects with webhooks", async () => {
  const origin: Origin = {
    requestId: "v-0123456789abcdef01",
    caller: { side: "server", id: "app_1", name: "POS" },
  };
  const headersOf = async ({ id }: { readonly id: string }) => {
    const { rows } = await db.query<{ headers: Record<string, string> | null }>(
      "select headers from outbox where key = $1 and type = $2",
      [id, RedemptionMadeSchema.typeName],
    );
    return rows.map(({ headers }) => headers);
  };
  const watched = await setUp({ origin, webhookEvents: ["redemption.succeeded"] });
  await watched.deliver();
  expect(await headersOf(watched.card)).toEqual([originHeaders(origin)]);
  const unwatched = await setUp({ origin });
  await unwatched.deliver();
  expect(await headersOf(unwatched.card)).toEqual([null]);
});

test("an automatic redemption is committed once, although its event is delivered again", async () => {
  const { deliver, holdId, released } = await setUp();
  await deliver();
  await deliver();
  expect(await claims(holdId)).toEqual([REDEMPTION]);
  expect(released).toEqual([]);
  await checkInvariants(service);
});

test("an automatic redemption waits for a transaction that locks the card", async () => {
  const { deliver, card, holdId, released } = await setUp();
  let delivered: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await tx.query(
      "select from voucher_usage where project_id = $1 and voucher_id = $2 for update",
      [projectId, card.id],
    );
    delivered = deliver();
    // Longer than all attempts would take without pauses.
    await tx.query("select pg_sleep(2)");
  });
  await delivered;
  expect(await claims(holdId)).toEqual([REDEMPTION]);
  expect(released).toEqual([]);
});

test("a redemption whose release may have been deleted since is released again, not committed", async () => {
  const { deliver, holdId, released } = await setUp({ ageMs: 47 * HOUR_MS });
  await deliver();
  expect(await claims(holdId)).toEqual([null]);
  expect(released).toEqual(["released"]);
});

test("a release that loyalty did not receive is repeated with the event", async () => {
  const { deliver, card, holdId, released, failNext } = await setUp();
  await service.vouchers.disableVoucher({ code: card.id }, service.call());
  failNext();
  await expect(deliver()).rejects.toThrow("loyalty has failed");
  expect(released).toEqual([]);
  await deliver();
  expect(await claims(holdId)).toEqual([null]);
  expect(released).toEqual(["released"]);
});
