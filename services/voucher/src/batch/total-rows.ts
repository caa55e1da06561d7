import type { Queryable } from "@scrip/postgres";

import { rowKey } from "../domain/usage.ts";
import { ensureTotals, type ScopeName } from "../store/totals.ts";

/** Sees to it that campaigns and tiers have the rows that are locked for them. */
export type Scopes = { ensure(db: Queryable, names: readonly ScopeName[]): Promise<void> };

/** Remembers which rows there are: they are never deleted. */
const MAX_KNOWN = 100_000;

export function createScopes(): Scopes {
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
