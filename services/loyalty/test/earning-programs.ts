import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  CardRequestedSchema,
  CustomEventReceivedSchema,
} from "@scrip/proto/scrip/events/v1/customers_pb";
import { OrderPaidSchema } from "@scrip/proto/scrip/events/v1/orders_pb";
import {
  LoyaltyCardChangedSchema,
  VoucherPublishedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import type { NewEarningRuleSchema } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";

import { createDeps } from "../src/deps.ts";
import type { LoyaltyProgram } from "../src/domain/loyalty-program.ts";
import { onEarningEvent } from "../src/events/on-earning-event.ts";
import { onMember, VOUCHERS_TOPIC } from "../src/events/on-member.ts";
import { ORDERS_TOPIC } from "../src/events/on-order-changed.ts";
import { CUSTOMERS_TOPIC } from "../src/events/topics.ts";
import { loyaltyInvariants } from "../src/store/invariants.ts";
import { savePrograms } from "../src/store/loyalty-programs.ts";
import { deliveryFrom, newCall, newEvent, NOON, violationsOf } from "./builders.ts";
import type { Loyalty } from "./deps.ts";

export type Rule = MessageInitShape<typeof NewEarningRuleSchema>;
export const PER_EURO = {
  event: "order.paid",
  loyalty: {
    type: "PROPORTIONAL",
    calculationType: "ORDER_AMOUNT",
    order: { amount: { every: 100n, points: 1n } },
  },
};
export const DAY = 86_400_000;

/** The consumers of a service, and programs to earn points in. */
export function earningIn(loyalty: Loyalty) {
  const { db, customers, earningRules } = loyalty;
  const deps = createDeps(db);
  const earn = (events: readonly DeliveredEvent[]) =>
    onEarningEvent(deps)(events, deliveryFrom(ORDERS_TOPIC));
  const publish = (events: readonly DeliveredEvent[]) =>
    onMember(deps)(events, deliveryFrom(VOUCHERS_TOPIC));

  /** A loyalty program with rules, in a project of its own. */
  async function setUp(rules: Rule[], { autoJoin = false, active = true } = {}) {
    const call = newCall();
    const projectId = call.project.id;
    const campaignId = newId("camp");
    await storeProgram(db, { projectId, id: campaignId, active, autoJoin });
    const { rules: created } =
      rules.length === 0
        ? { rules: [] }
        : await earningRules.createEarningRules({ campaignId, rules }, call);
    const newCustomer = async (): Promise<string> =>
      (await customers.createCustomer({ sourceId: newId("cust") }, call)).id;
    return {
      call,
      projectId,
      campaignId,
      rules: created,
      newCustomer,
      published: (
        customerId: string,
        { cardId = newId("v"), at = NOON - DAY, program = campaignId, loyaltyPoints = 0n } = {},
      ) =>
        newEvent(
          VoucherPublishedSchema,
          { projectId, topic: VOUCHERS_TOPIC },
          {
            projectId,
            voucherId: cardId,
            campaignId: program,
            customerId,
            date: timestampFromMs(at),
            loyaltyPoints,
          },
        ),
      cardChanged: (
        cardId: string,
        state: Omit<MessageInitShape<typeof LoyaltyCardChangedSchema>, "$typeName">,
      ) =>
        newEvent(
          LoyaltyCardChangedSchema,
          { projectId, topic: VOUCHERS_TOPIC },
          { projectId, voucherId: cardId, active: true, ...state },
        ),
      paid: (customerId: string, amount: bigint, at = NOON) =>
        newEvent(
          OrderPaidSchema,
          { projectId, topic: ORDERS_TOPIC },
          {
            projectId,
            date: timestampFromMs(at),
            order: {
              id: newId("ord"),
              sourceId: "o-1",
              customerId,
              amount,
              status: OrderStatus.PAID,
            },
          },
        ),
      happened: (customerId: string, name: string, fields: object = {}) =>
        newEvent(
          CustomEventReceivedSchema,
          { projectId, topic: CUSTOMERS_TOPIC },
          {
            projectId,
            eventId: newId("event"),
            name,
            customerId,
            date: timestampFromMs(NOON),
            ...fields,
          },
        ),
      ledger: async () => {
        const { rows } = await db.query<Record<string, unknown>>(
          `select card_id, type, points, lots, details, source from ledger_entry
          where project_id = $1 order by card_id, points, cause`,
          [projectId],
        );
        return rows;
      },
      pending: async () => {
        const { rows } = await db.query<Record<string, unknown>>(
          `select p.card_id, p.points, p.status, p.activates_on::text, c.pending_points
           from pending_points p join loyalty_card c on c.project_id = p.project_id and c.id = p.card_id
          where p.project_id = $1 order by p.id`,
          [projectId],
        );
        return rows;
      },
      requests: async () => {
        const { rows } = await db.query<{ payload: Uint8Array }>(
          "select payload from outbox where project_id = $1 and type = $2",
          [projectId, CardRequestedSchema.typeName],
        );
        return rows.map(({ payload }) => fromBinary(CardRequestedSchema, payload));
      },
      handled: async () => {
        const { rows } = await db.query<{ event_id: string }>(
          "select event_id from inbox where project_id = $1 and consumer = 'earning'",
          [projectId],
        );
        return rows.map(({ event_id: id }) => id);
      },
      violations: () => violationsOf(db, projectId, loyaltyInvariants),
    };
  }

  /** A member with a card. */
  async function join(program: Awaited<ReturnType<typeof setUp>>) {
    const customerId = await program.newCustomer();
    const cardId = newId("v");
    await publish([program.published(customerId, { cardId })]);
    return { customerId, cardId };
  }

  return { earn, publish, setUp, join };
}

/** A program as its event brings it. */
export const storeProgram = (
  db: Queryable,
  program: Pick<LoyaltyProgram, "projectId" | "id"> & Partial<LoyaltyProgram>,
): Promise<void> =>
  savePrograms(db, [
    {
      name: "Club",
      active: true,
      autoJoin: false,
      validity: {
        startDate: null,
        expirationDate: null,
        timeframe: null,
        daysOfWeek: null,
        hours: null,
      },
      expirationRules: { period_type: "MONTH", period_value: 1 },
      tiersExpiration: null,
      initialPoints: 0n,
      deleted: false,
      ...program,
    },
  ]);
