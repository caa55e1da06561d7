import { createGenerationCache } from "@scrip/postgres";

import type { VoucherUsage } from "../domain/usage.ts";

/**
 * The usages that this process saw last, which commits without locks start from. Other processes may have changed them
 * since, so the statement that writes a decision compares them with the rows.
 */
export type RecentUsages = {
  readonly get: (projectId: string, voucherId: string) => VoucherUsage | undefined;
  /** Stores the latest version: reads and commits of one voucher end in any order. */
  readonly record: (usage: VoucherUsage) => void;
  /** Removes a usage whose row has changed; the next load stores the new one. */
  readonly forget: (usage: VoucherUsage) => void;
};

/** More than the requests in progress, each of which loads a voucher shortly before it redeems it. */
const MAX_USAGES = 10_000;

export function createRecentUsages(): RecentUsages {
  const cache = createGenerationCache<VoucherUsage | null>(MAX_USAGES);
  const get: RecentUsages["get"] = (projectId, voucherId) =>
    cache.get(projectId, voucherId) ?? undefined;
  return {
    get,
    record(usage) {
      const known = get(usage.projectId, usage.voucherId);
      if (known === undefined || known.version < usage.version) {
        cache.set(usage.projectId, usage.voucherId, usage);
      }
    },
    forget: ({ projectId, voucherId }) => cache.set(projectId, voucherId, null),
  };
}
