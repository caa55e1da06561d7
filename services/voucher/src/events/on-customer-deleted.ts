import { currentTime } from "@scrip/clock";
import { type EventHandler, eventMessage } from "@scrip/events";
import { eraseResponses } from "@scrip/idempotency";
import { instantFromProto } from "@scrip/mapping";
import type { Database } from "@scrip/postgres";
import {
  type CustomerDeleted,
  CustomerDeletedSchema,
} from "@scrip/proto/scrip/events/v1/customers_pb";

import {
  deleteHoldings,
  anonymizePublications,
  anonymizeRedemptions,
  listHeldVouchers,
  releaseVouchers,
} from "../store/deleted-customers.ts";
import { eraseRollbackResponses } from "../store/erased-rollbacks.ts";
import { deleteConversions } from "../store/referral-conversions.ts";
import { lockUsages } from "../store/usages.ts";

export const CUSTOMERS_TOPIC = "scrip.customers.v1";

/** Each chunk is a transaction of its own, so that no redemption waits long for one of them. */
const CHUNK = 500;

/**
 * Removes the holder of vouchers whose customer was deleted; balances and counters stay
 * (docs/customers.md#deletion). Idempotent, so it needs no inbox.
 */
export const onCustomerDeleted =
  (db: Database): EventHandler =>
  async (events) => {
    for (const event of events) {
      const deleted = eventMessage(event, CustomerDeletedSchema);
      if (deleted !== undefined) await releaseHeldVouchers(db, deleted);
    }
  };

async function releaseHeldVouchers(db: Database, deleted: CustomerDeleted): Promise<void> {
  const { projectId, customerId, permanent, date } = deleted;
  const customer = { projectId, customerId };
  const now = date === undefined ? currentTime() : instantFromProto(date);
  for (;;) {
    const ids = await listHeldVouchers(db, { ...customer, limit: CHUNK });
    if (ids.length === 0) break;
    await db.transaction(async (tx) => {
      await lockUsages(
        tx,
        ids.map((voucherId) => ({ projectId, voucherId })),
      );
      await releaseVouchers(tx, { ...customer, ids, now });
    });
  }
  // Last: a voucher that is deleted concurrently is not among the released ones.
  await deleteHoldings(db, customer);
  await deleteConversions(db, customer);
  if (!permanent) return;
  await anonymizePublications(db, customer);
  await anonymizeRedemptions(db, customer);
  await eraseRollbackResponses(db, customer);
  await eraseResponses(db, customer);
}
