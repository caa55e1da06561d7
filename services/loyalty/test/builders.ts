import {
  create as createMessage,
  type DescMessage,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent, DeliveryContext } from "@scrip/events";
import { newId, newRequestId } from "@scrip/ids";
import type { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";
import { OrderEditedSchema, OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import type { HoldPointsOutcome } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import type { CreateCustomerRequestSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { CreateRewardRequestSchema } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { batchCall, type Call } from "@scrip/rpc";

import { localDateAt } from "../src/domain/local-date.ts";
import type { PointsMovement } from "../src/domain/move-points.ts";
import { ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { movePoints } from "../src/points/move-points.ts";
import { findProfile } from "../src/store/customer-profiles.ts";
import { upsertCustomer } from "../src/store/customers.ts";
import { loyaltyInvariants } from "../src/store/invariants.ts";
import type { Loyalty } from "./deps.ts";

export const NOON = Date.parse("2026-03-01T12:00:00Z");

export type Init<Schema extends DescMessage> = Exclude<
  MessageInitShape<Schema>,
  { $typeName: string }
>;

/** A call in a new project. */
export const newCall = (overrides: Partial<Call> = {}): Call => ({
  project: { id: newId("proj"), timeZone: "UTC", caseSensitiveCodes: true },
  requestId: "v-000000000000000000",
  deadline: Date.now() + 60_000,
  now: NOON,
  caller: { side: "server", id: "app_test" },
  ...overrides,
});

/** A call of another service with a batch for several projects. */
export const newBatchCall = (): Call => batchCall(newRequestId(), Date.now() + 60_000, Date.now());

export const PROJECT_NOW = timestampFromMs(Date.now());
export const IN_AN_HOUR = timestampFromMs(Date.now() + 3_600_000);

export const holdIdOf = (outcome: HoldPointsOutcome["outcome"]): string =>
  outcome.case === "held" ? outcome.value.holds[0]!.id : "";

export type HoldOptions = {
  readonly requestKey?: string;
  readonly sessionKey?: string;
  readonly rewardId?: string;
  readonly takesStock?: boolean;
};

/** A loyalty card in a new project, and the operations on its points. */
export function newLoyaltyCard({ db, cards }: Loyalty, initialPoints: bigint) {
  const projectId = newId("proj");
  const cardId = newId("v");
  const call = newBatchCall();
  return {
    projectId,
    cardId,
    reference: { projectId, cardId, initialPoints },
    hold: async (
      points: bigint,
      { rewardId = "rew_1", takesStock = false, ...keys }: HoldOptions = {},
    ): Promise<HoldPointsOutcome["outcome"]> => {
      const parts = [{ cardId, initialPoints, points, rewardId, takesStock }];
      const commands = [{ projectId, now: PROJECT_NOW, parts, ...keys }];
      const { outcomes } = await cards.holdPoints({ commands }, call);
      return outcomes[0]!.outcome;
    },
    claim: (holdId: string, redemptionId: string) =>
      cards.resolvePointsHolds({ resolutions: [{ projectId, holdId, redemptionId }] }, call),
    release: (holdId: string) =>
      cards.resolvePointsHolds({ resolutions: [{ projectId, holdId }] }, call),
    refund: (holdId: string, redemptionId: string, rollbackId: string) =>
      cards.refundPoints(
        { refunds: [{ projectId, holdId, redemptionId, rollbackId, now: PROJECT_NOW }] },
        call,
      ),
    lock: async (sessionKey: string, points: bigint, expiresAt = IN_AN_HOUR) => {
      const reservations = [{ cardId, initialPoints, points, expiresAt }];
      const commands = [{ projectId, sessionKey, now: PROJECT_NOW, reservations }];
      const { outcomes } = await cards.reservePoints({ commands }, call);
      return outcomes[0]!.reserved;
    },
    unlock: (sessionKey: string) =>
      cards.releasePoints({ releases: [{ projectId, sessionKey }] }, call),
    /** Moves points in a transaction of its own. */
    move: async (movement: Partial<PointsMovement> & Pick<PointsMovement, "type" | "points">) => {
      const full = {
        card: { projectId, cardId, initialPoints },
        cause: newId("vtx"),
        at: Date.now(),
        expiredBefore: localDateAt("UTC", Date.now()),
        ...movement,
      };
      const [decision] = await db.transaction((tx) => movePoints(tx, { newId }, [full]));
      return decision!;
    },
    lots: async () => {
      const { rows } = await db.query<{ expires_on: string; points: bigint; expired: boolean }>(
        `select expires_on, points, expired from points_lot
          where project_id = $1 order by expires_on, expired`,
        [projectId],
      );
      return rows.map((row) => [row.expires_on, row.points, row.expired ? "expired" : "active"]);
    },
    balances: async () => {
      const read = await cards.getCardBalances(
        { cards: [{ projectId, cardId, initialPoints }] },
        call,
      );
      const { points, balance, redeemedPoints } = read.balances[0]!;
      return { points, balance, redeemedPoints };
    },
    ledger: async () => {
      const { rows } = await db.query<{ type: string; points: bigint; balance_after: bigint }>(
        `select type, points, balance_after from ledger_entry
          where project_id = $1 order by version`,
        [projectId],
      );
      return rows.map((row) => [row.type, row.points, row.balance_after]);
    },
    violations: (invariant?: string) =>
      violationsOf(
        db,
        projectId,
        loyaltyInvariants.filter(({ name }) => invariant === undefined || name === invariant),
      ),
  };
}

export async function violationsOf(
  db: Loyalty["db"],
  projectId: string,
  invariants: typeof loyaltyInvariants,
) {
  const request = { projectId, after: "", limit: 1_000 };
  const chunks = await Promise.all(invariants.map(({ checkChunk }) => checkChunk(db, request)));
  return chunks.flatMap(({ violations }) => violations);
}

/** A MATERIAL reward with unlimited stock unless the request says otherwise. */
export const newReward = (
  { rewards }: Loyalty,
  call: Call,
  request: Partial<Init<typeof CreateRewardRequestSchema>> = {},
) =>
  rewards.createReward(
    { name: "Mug", type: "MATERIAL", parameters: { product: { id: "prod_1" } }, ...request },
    call,
  );

/** An event as the bus delivers it. */
export const newEvent = <Schema extends DescMessage>(
  schema: Schema,
  { projectId, topic }: { readonly projectId: string; readonly topic: string },
  payload: MessageInitShape<Schema>,
): DeliveredEvent => ({
  id: newId("event"),
  topic,
  key: "v_1",
  projectId,
  type: schema.typeName,
  payload: toBinary(schema, createMessage(schema, payload)),
  headers: {},
  occurredAt: new Date(NOON),
  partition: 0,
  offset: 0n,
});

/** The context of a delivery from this topic. */
export const deliveryFrom = (topic: string): DeliveryContext => ({
  group: "loyalty",
  topic,
  signal: new AbortController().signal,
});

/** Creates customers in a new project; `now` sets the time of the request. */
export function newCustomers({ customers }: Loyalty) {
  const call = newCall();
  const create = (request: Init<typeof CreateCustomerRequestSchema>, { now = NOON } = {}) =>
    customers.createCustomer(request, { ...call, now });
  return { call, create };
}

type Redemption = MessageInitShape<typeof RedemptionMadeSchema>;

/** A customer in a new project, the events about them, and their counted figures. */
export async function newSubject({ db }: Loyalty) {
  const projectId = newId("proj");
  const id = await upsertCustomer(db, {
    projectId,
    newId: newId("cust"),
    sourceId: "ada",
    change: { fields: {}, metadata: {} },
    at: new Date(NOON),
  });
  const redemption = (payload: Redemption, at = NOON) => ({
    projectId,
    redemptionId: newId("r"),
    voucherId: "v_1",
    customerId: id,
    date: timestampFromMs(at),
    ...payload,
  });
  const ofRedemptions = { projectId, topic: REDEMPTIONS_TOPIC };
  return {
    projectId,
    id,
    redemption,
    redeemed: (payload: Redemption, at = NOON) =>
      newEvent(RedemptionMadeSchema, ofRedemptions, redemption(payload, at)),
    rolledBack: (payload: MessageInitShape<typeof RedemptionRolledBackSchema>, at = NOON) =>
      newEvent(RedemptionRolledBackSchema, ofRedemptions, {
        projectId,
        customerId: id,
        date: timestampFromMs(at),
        ...payload,
      }),
    failed: () => newEvent(RedemptionFailedSchema, ofRedemptions, { projectId, customerId: id }),
    paid: (order: MessageInitShape<typeof OrderSchema>, at = NOON) =>
      newEvent(
        OrderPaidSchema,
        { projectId, topic: ORDERS_TOPIC },
        { projectId, order, date: timestampFromMs(at) },
      ),
    edited: (order: MessageInitShape<typeof OrderSchema>, at = NOON) =>
      newEvent(
        OrderEditedSchema,
        { projectId, topic: ORDERS_TOPIC },
        { projectId, order, date: timestampFromMs(at) },
      ),
    summary: async () => (await findProfile(db, projectId, id))?.summary,
  };
}
