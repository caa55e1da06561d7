import { createGenerationCache, type Queryable } from "@scrip/postgres";

import { toCachedDefinition, type CachedDefinition } from "../mapping/voucher.ts";
import { findVouchersById, type VoucherKey } from "../store/vouchers.ts";

/** Definitions of the vouchers that this process used recently. */
export type DefinitionCache = {
  /** By id, in the version that was cached last: the caller compares it with the locked one. */
  readonly byId: (projectId: string, voucherId: string) => CachedDefinition | undefined;
  /** Exactly that version, if it is cached. */
  readonly byVersion: (
    projectId: string,
    voucherId: string,
    version: bigint,
  ) => CachedDefinition | undefined;
  /** By the code or id of the request. */
  readonly byCode: (projectId: string, code: string) => CachedDefinition | undefined;
  readonly add: (cached: CachedDefinition, code?: string) => void;
  /** Loads and caches the versions that are missing. */
  readonly load: (db: Queryable, versions: readonly DefinitionVersion[]) => Promise<void>;
};

/** Edits are rare compared to redemptions. */
const REPLACED_SHARE = 20;

export type DefinitionVersion = VoucherKey & { readonly version: bigint };

/**
 * Caches definitions, never counters. A version of a definition never changes, and callers compare it with the
 * version of a row that they just read, so nothing in the cache can be outdated.
 */
export function createDefinitionCache(size: number): DefinitionCache {
  const byId = createGenerationCache<CachedDefinition>(size);
  const byCode = createGenerationCache<CachedDefinition>(size);
  // Versions that were replaced recently: commands in flight were decided on them.
  const replaced = createGenerationCache<CachedDefinition>(Math.ceil(size / REPLACED_SHARE));
  const byVersion: DefinitionCache["byVersion"] = (projectId, voucherId, version) => {
    const latest = byId.get(projectId, voucherId);
    if (latest?.definition.version === version) return latest;
    return replaced.get(projectId, versionKey(voucherId, version));
  };
  const add: DefinitionCache["add"] = (cached, code) => {
    const { projectId, id, version } = cached.definition;
    const before = byId.get(projectId, id);
    if (before !== undefined && before.definition.version !== version) {
      replaced.set(projectId, versionKey(id, before.definition.version), before);
    }
    byId.set(projectId, id, cached);
    if (code !== undefined) byCode.set(projectId, code, cached);
  };
  return {
    byId: byId.get,
    byVersion,
    byCode: byCode.get,
    add: add,
    async load(db, versions) {
      const missing = versions.filter(
        ({ projectId, id, version }) => byVersion(projectId, id, version) === undefined,
      );
      if (missing.length === 0) return;
      for (const { definition } of await findVouchersById(db, missing)) {
        add(toCachedDefinition(definition));
      }
    },
  };
}

const versionKey = (voucherId: string, version: bigint): string => `${voucherId}\n${version}`;
