import { fromBinary } from "@bufbuild/protobuf";
import { type EventHandler, takeFresh } from "@scrip/events";
import type { Database } from "@scrip/postgres";
import { VoucherPublishedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";

import { addVouchers } from "../store/campaigns.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";
const CONSUMER = "vouchers-count";

/**
 * Counts the vouchers that publications made, which campaigns do not make themselves. Each counts once,
 * however often its event comes.
 */
export const onVoucherPublished =
  (db: Database): EventHandler =>
  async (events) => {
    const relevant = events.flatMap((event) => {
      if (event.type !== VoucherPublishedSchema.typeName) return [];
      const { generated, projectId, campaignId } = fromBinary(
        VoucherPublishedSchema,
        event.payload,
      );
      return generated && campaignId !== undefined ? [{ event, projectId, campaignId }] : [];
    });
    if (relevant.length === 0) return;
    await db.transaction(async (tx) => {
      const fresh = await takeFresh(
        tx,
        CONSUMER,
        relevant.map(({ event }) => event),
      );
      const ids = new Set(fresh.map(({ id }) => id));
      await addVouchers(
        tx,
        relevant.filter(({ event }) => ids.has(event.id)),
      );
    });
  };
