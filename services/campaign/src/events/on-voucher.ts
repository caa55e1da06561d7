import { type DeliveredEvent, type EventHandler, inboxHandler, eventMessage } from "@scrip/events";
import type { NewId } from "@scrip/ids";
import { optionalInstantFromProto } from "@scrip/mapping";
import type { Database, Queryable } from "@scrip/postgres";
import {
  VoucherDeletedSchema,
  VoucherPublishedSchema,
  VoucherPurgedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";

import {
  deleteBinEntriesOf,
  insertBinEntries,
  type ProjectBinEntry,
} from "../store/bin-entries.ts";
import { changeVoucherCounts, type VoucherCountChange } from "../store/voucher-counts.ts";

export const VOUCHERS_TOPIC = "scrip.vouchers.v1";

/**
 * Counts vouchers that publications created (this service counts the vouchers that it creates itself) and
 * deleted vouchers, and lists deleted vouchers in the bin: each exactly once although events are delivered at least once.
 */
export const onVoucher = (db: Database, newId: NewId): EventHandler =>
  inboxHandler(db, {
    consumer: "vouchers-count",
    read: effectOf,
    work: (tx, effects) => apply(tx, newId, effects),
  });

/** The effect of an event in this service. */
type Effect = {
  readonly count?: VoucherCountChange | undefined;
  readonly binned?: Omit<ProjectBinEntry, "id">;
  readonly purged?: { readonly projectId: string; readonly id: string };
};

async function apply(tx: Queryable, newId: NewId, effects: readonly Effect[]): Promise<void> {
  const counts = effects.flatMap(({ count }) => count ?? []);
  if (counts.length > 0) await changeVoucherCounts(tx, counts);
  const binned = effects.flatMap(({ binned: entry }) => entry ?? []);
  const entries = binned.map((entry) => ({ ...entry, id: newId("tbe") }));
  if (entries.length > 0) await insertBinEntries(tx, entries);
  // Runs after the entries were added, because a voucher may be deleted and purged in one batch.
  const purged = Map.groupBy(
    effects.flatMap(({ purged: voucher }) => voucher ?? []),
    ({ projectId }) => projectId,
  );
  for (const [projectId, vouchers] of purged) {
    await deleteBinEntriesOf(
      tx,
      projectId,
      vouchers.map(({ id }) => id),
    );
  }
}

function effectOf(event: DeliveredEvent): Effect | undefined {
  const count = countChangeOf(event);
  const purged = eventMessage(event, VoucherPurgedSchema);
  if (purged !== undefined)
    return { purged: { projectId: purged.projectId, id: purged.voucherId } };
  const deleted = eventMessage(event, VoucherDeletedSchema);
  // Events of earlier releases have no code.
  if (deleted === undefined || deleted.permanent || deleted.code === "") return count && { count };
  return {
    count,
    binned: {
      projectId: deleted.projectId,
      resourceId: deleted.voucherId,
      resourceType: "voucher",
      resourceName: deleted.code,
      parentId: deleted.campaignId ?? null,
      createdAt: optionalInstantFromProto(deleted.date) ?? event.occurredAt.getTime(),
    },
  };
}

function countChangeOf(event: DeliveredEvent): VoucherCountChange | undefined {
  const published = eventMessage(event, VoucherPublishedSchema);
  if (published !== undefined) {
    const { generated, projectId, campaignId } = published;
    return generated && campaignId !== undefined ? { projectId, campaignId, by: 1 } : undefined;
  }
  const deleted = eventMessage(event, VoucherDeletedSchema);
  if (deleted?.campaignId === undefined) return undefined;
  return { projectId: deleted.projectId, campaignId: deleted.campaignId, by: -1 };
}
