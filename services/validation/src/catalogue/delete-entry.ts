import { enqueue } from "@scrip/events";
import { deleted, publishReceived } from "@scrip/idempotency";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { catalogueEntryBinned, PRODUCTS_TOPIC } from "../events/catalogue-entry-binned.ts";
import { reserveSourceIds } from "../store/catalogue-bin.ts";
import { deleteEntry, findEntry, type Kind } from "../store/catalogue.ts";

/**
 * Deletes a product with its SKUs, or a SKU: for good with `force`, otherwise into the bin. Webhooks get its id, which a
 * path that names its source id does not contain.
 */
export async function deleteOrBin(
  { db, newId, onEvents }: Pick<Deps, "db" | "newId" | "onEvents">,
  call: Call,
  entry: {
    readonly kind: Kind;
    readonly id: string;
    readonly name: string | null;
    readonly productId?: string;
    readonly force: boolean;
  },
): Promise<void> {
  const { project, now } = call;
  const { id: projectId } = project;
  const { kind, id, force } = entry;
  await db.transaction(async (tx) => {
    // Of concurrent deletions, one finds the row. New SKUs of a product wait for the lock, and fail.
    const key = { column: "id", value: id } as const;
    if ((await findEntry(tx, kind, { projectId, key, lock: "deletion" })) === undefined) return;
    if (!force) {
      await reserveSourceIds(tx, kind, { projectId, id });
      const event = catalogueEntryBinned(newId("event"), { projectId, ...entry }, now);
      await enqueue(tx, [event], call);
    }
    await deleteEntry(tx, kind, { projectId, id });
    const change = { ...deleted(kind, id), names: [`${kind}.deleted`] };
    await publishReceived(tx, call, { topic: PRODUCTS_TOPIC, changes: [change] });
  });
  onEvents();
}
