import type { Queryable } from "@scrip/postgres";

import { rowKey } from "../domain/usage.ts";
import { ensureTotals, type ScopeKey } from "../store/totals.ts";

/** Creates the rows that are locked for campaigns and tiers: a row that does not exist cannot be locked. */
export type TotalRows = { ensure(db: Queryable, names: readonly ScopeKey[]): Promise<void> };

/** Caches which rows exist: they are never deleted. */
const MAX_KNOWN = 100_000;

export function createTotalRows(): TotalRows {
  const known = new Set<string>();
  return {
    async ensure(db, names) {
      const unknown = names.filter(
        ({ projectId, scopeId }) => !known.has(rowKey(projectId, scopeId)),
      );
      if (unknown.length === 0) return;
      await ensureTotals(db, unknown);
      if (known.size + unknown.length > MAX_KNOWN) known.clear();
      for (const { projectId, scopeId } of unknown) known.add(rowKey(projectId, scopeId));
    },
  };
}
