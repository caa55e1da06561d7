import type { NewId } from "@scrip/ids";
import type { Queryable } from "@scrip/postgres";

import type { CustomerChange } from "../domain/customer.ts";
import { findCustomersBy, insertCustomers, mergeCustomers } from "../store/customers.ts";

export type CustomerImport = { readonly sourceId: string; readonly change: CustomerChange };

/**
 * Creates or updates the customers of a batch with one statement each for new and existing ones; returns the source ids
 * of those that were created. A later change of the same customer is applied on top of an earlier one.
 */
export async function importCustomers(
  tx: Queryable,
  { newId }: { readonly newId: NewId },
  batch: {
    readonly projectId: string;
    readonly at: Date;
    readonly imports: readonly CustomerImport[];
  },
): Promise<ReadonlySet<string>> {
  const { projectId, at } = batch;
  const changes = mergeChanges(batch.imports);
  const created = await insertCustomers(
    tx,
    [...changes].map(([sourceId, change]) => ({
      projectId,
      id: newId("cust"),
      sourceId,
      change,
      at,
    })),
  );
  const keys = [...changes.keys()].flatMap((value) =>
    created.has(value) ? [] : [{ projectId, column: "source_id" as const, value }],
  );
  const merges = (await findCustomersBy(tx, "source_id", keys)).flatMap(({ id, sourceId }) => {
    const change = changes.get(sourceId ?? "");
    return change === undefined ? [] : [{ projectId, id, change, at }];
  });
  await mergeCustomers(tx, merges);
  return created;
}

function mergeChanges(imports: readonly CustomerImport[]): ReadonlyMap<string, CustomerChange> {
  const merged = new Map<string, CustomerChange>();
  for (const { sourceId, change } of imports) {
    const before = merged.get(sourceId);
    merged.set(sourceId, {
      fields: { ...before?.fields, ...change.fields },
      metadata: { ...before?.metadata, ...change.metadata },
    });
  }
  return merged;
}
