import { createGenerationCache, type Queryable } from "@scrip/postgres";

import { toCachedDefinition, type CachedDefinition } from "../mapping/voucher.ts";
import { findVouchersById, type VoucherKey } from "../store/vouchers.ts";

/** The vouchers that a process answers about again and again. */
export type DefinitionCache = {
  /** By id, in whatever version was seen last: the caller compares it with the locked one. */
  readonly byId: (projectId: string, voucherId: string) => CachedDefinition | undefined;
  /** That version or none. */
  readonly byVersion: (
    projectId: string,
    voucherId: string,
    version: bigint,
  ) => CachedDefinition | undefined;
  /** By what was sent for it, a code or an id. */
  readonly byCode: (projectId: string, code: string) => CachedDefinition | undefined;
  readonly add: (template: CachedDefinition, code?: string) => void;
  /** Reads those that are missing, or seen in another version than the one that is asked for. */
  readonly load: (db: Queryable, wanted: readonly DefinitionVersion[]) => Promise<void>;
};

/** Edits are rare beside redemptions. */
const REPLACED_SHARE = 20;

export type DefinitionVersion = VoucherKey & { readonly version: bigint };

/**
 * Caches definitions, never counters. A version of a definition never changes, and whoever answers
 * with one compares its version with that of a row just read, so nothing here can be out of date.
 */
export function createDefinitionCache(size: number): DefinitionCache {
  const byId = createGenerationCache<CachedDefinition>(size);
  const byCode = createGenerationCache<CachedDefinition>(size);
  // What was replaced a moment ago, which commands that are under way were decided on.
  const replaced = createGenerationCache<CachedDefinition>(Math.ceil(size / REPLACED_SHARE));
  const byVersion: DefinitionCache["byVersion"] = (projectId, voucherId, version) => {
    const latest = byId.get(projectId, voucherId);
    if (latest?.definition.version === version) return latest;
    return replaced.get(projectId, versionKey(voucherId, version));
  };
  const remember: DefinitionCache["add"] = (template, code) => {
    const { projectId, id, version } = template.definition;
    const before = byId.get(projectId, id);
    if (before !== undefined && before.definition.version !== version) {
      replaced.set(projectId, versionKey(id, before.definition.version), before);
    }
    byId.set(projectId, id, template);
    if (code !== undefined) byCode.set(projectId, code, template);
  };
  return {
    byId: byId.get,
    byVersion,
    byCode: byCode.get,
    add: remember,
    async load(db, wanted) {
      const missing = wanted.filter(
        ({ projectId, id, version }) => byVersion(projectId, id, version) === undefined,
      );
      if (missing.length === 0) return;
      for (const { definition } of await findVouchersById(db, missing)) {
        remember(toCachedDefinition(definition));
      }
    },
  };
}

const versionKey = (voucherId: string, version: bigint): string => `${voucherId}\n${version}`;
