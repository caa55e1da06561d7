import { fromBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { type DeliveredEvent, type EventHandler, takeFresh } from "@scrip/events";
import type { Database, Queryable } from "@scrip/postgres";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import {
  RedemptionFailedSchema,
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";

import {
  addRedemptions,
  type CountedRedemptions,
  type CustomerRef,
  nameOf,
  putOrders,
} from "../store/counts.ts";
import { newestOrders, ofHeldCustomers, type ToldOrder } from "./count-orders.ts";

export const REDEMPTIONS_TOPIC = "scrip.redemptions.v1";
const CONSUMER = "customer-summary";

/** What an event adds to the summary of its customer. */
type Told = { readonly counts: CountedRedemptions; readonly order: ToldOrder | undefined };

/**
 * Counts redemptions, refused ones and rollbacks for the summaries of customers. Each counts once,
 * however often its event comes: the inbox remembers it in the transaction that counts. What has no
 * customer costs nothing here, and what is of a customer who was deleted leaves no trace.
 */
export const onRedemption =
  (db: Database): EventHandler =>
  async (events) => {
    const told = new Map<string, Told>();
    const relevant: DeliveredEvent[] = [];
    for (const event of events) {
      const one = read(event);
      if (one === undefined) continue;
      told.set(event.id, one);
      relevant.push(event);
    }
    if (relevant.length === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(tx, CONSUMER, relevant);
      await count(
        tx,
        fresh.flatMap(({ id }) => told.get(id) ?? []),
      );
    });
  };

const NOTHING = { succeeded: 0, failed: 0, rolledBack: 0, rollbacksRefused: 0, giftAmount: 0n };

/** Nothing of an event that is of no customer, or of another kind. */
function read({ type, payload }: DeliveredEvent): Told | undefined {
  switch (type) {
    case RedemptionMadeSchema.typeName: {
      const {
        projectId,
        customerId,
        amount = 0n,
        ...made
      } = fromBinary(RedemptionMadeSchema, payload);
      if (customerId === undefined) return undefined;
      const counts = { projectId, customerId, ...NOTHING, succeeded: 1, giftAmount: amount };
      return { counts, order: toldBy(counts, made) };
    }
    case RedemptionFailedSchema.typeName: {
      const { projectId, customerId } = fromBinary(RedemptionFailedSchema, payload);
      return { counts: { projectId, customerId, ...NOTHING, failed: 1 }, order: undefined };
    }
    case RedemptionRolledBackSchema.typeName: {
      const {
        projectId,
        customerId,
        amount = 0n,
        refused,
        ...back
      } = fromBinary(RedemptionRolledBackSchema, payload);
      if (customerId === undefined) return undefined;
      const counted = refused ? { rollbacksRefused: 1 } : { rolledBack: 1, giftAmount: -amount };
      const counts = { projectId, customerId, ...NOTHING, ...counted };
      return { counts, order: toldBy(counts, back) };
    }
    default:
      return undefined;
  }
}

function toldBy(
  { projectId, customerId }: CustomerRef,
  { order, date }: { readonly order?: Order | undefined; readonly date?: Timestamp | undefined },
): ToldOrder | undefined {
  if (order === undefined || date === undefined) return undefined;
  return { projectId, customerId, order, at: timestampDate(date) };
}

async function count(tx: Queryable, told: readonly Told[]): Promise<void> {
  const orders = newestOrders(told.flatMap(({ order }) => order ?? []));
  const left = await ofHeldCustomers(tx, [...told.map(({ counts }) => counts), ...orders]);
  const redemptions = left(sumUp(told));
  if (redemptions.length > 0) await addRedemptions(tx, redemptions);
  const known = left(orders);
  if (known.length > 0) await putOrders(tx, known);
}

function sumUp(told: readonly Told[]): readonly CountedRedemptions[] {
  const sums = new Map<string, CountedRedemptions>();
  for (const { counts } of told) {
    const before = sums.get(nameOf(counts)) ?? NOTHING;
    sums.set(nameOf(counts), {
      ...counts,
      succeeded: before.succeeded + counts.succeeded,
      failed: before.failed + counts.failed,
      rolledBack: before.rolledBack + counts.rolledBack,
      rollbacksRefused: before.rollbacksRefused + counts.rollbacksRefused,
      giftAmount: before.giftAmount + counts.giftAmount,
    });
  }
  return [...sums.values()];
}
