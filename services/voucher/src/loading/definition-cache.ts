import { hash } from "node:crypto";

import { createGenerationCache, type Queryable } from "@scrip/postgres";

import type { VoucherDefinition } from "../domain/voucher.ts";
import {
  type CachedDefinition,
  type OwnParts,
  type SharedParts,
  toCachedDefinition,
  toOwnParts,
  toSharedParts,
  withOwnParts,
} from "../mapping/voucher.ts";
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

export type DefinitionVersion = VoucherKey & { readonly version: bigint };

export type DefinitionCacheSize = {
  /** Definitions, in the form that takes about 500 bytes. */
  readonly codes: number;
  /** Parts that are shared, about 2 KiB each: one for each campaign, unless its codes differ in more than their names. */
  readonly shared: number;
  /** Definitions in the form that is used, about 2 KiB each: those of requests in progress, and of hot codes. */
  readonly whole: number;
};

const DEFAULT_SIZE: DefinitionCacheSize = { codes: 200_000, shared: 20_000, whole: 4_000 };

/** Edits are rare compared to redemptions. */
const MAX_REPLACED = 1_000;

/**
 * Caches definitions, never counters. A version of a definition never changes, and callers compare it with the
 * version of a row that they just read, so nothing in the cache can be outdated.
 */
export function createDefinitionCache(size: DefinitionCacheSize = DEFAULT_SIZE): DefinitionCache {
  const whole = createGenerationCache<CachedDefinition>(size.whole);
  const compact = createCompactDefinitions(size);
  // Versions that were replaced recently: commands in flight were decided on them.
  const replaced = createGenerationCache<CachedDefinition>(MAX_REPLACED);

  const byId: DefinitionCache["byId"] = (projectId, voucherId) => {
    const known = whole.get(projectId, voucherId);
    if (known !== undefined) return known;
    const own = compact.byId(projectId, voucherId);
    const expanded = own && compact.expand(projectId, own);
    if (expanded !== undefined) whole.set(projectId, voucherId, expanded);
    return expanded;
  };
  const byVersion: DefinitionCache["byVersion"] = (projectId, voucherId, version) => {
    const latest = byId(projectId, voucherId);
    if (latest?.definition.version === version) return latest;
    return replaced.get(projectId, versionKey(voucherId, version));
  };
  const add: DefinitionCache["add"] = (cached, code) => {
    const { projectId, id, version } = cached.definition;
    const before = byId(projectId, id);
    if (before === cached && code === undefined) return;
    if (before !== undefined && before.definition.version !== version) {
      replaced.set(projectId, versionKey(id, before.definition.version), before);
    }
    whole.set(projectId, id, cached);
    compact.add(cached.definition, code);
  };
  return {
    byId,
    byVersion,
    byCode(projectId, code) {
      const own = compact.byCode(projectId, code);
      if (own === undefined) return undefined;
      const known = byId(projectId, own.id);
      return known?.definition.version === own.version ? known : compact.expand(projectId, own);
    },
    add,
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

/** A definition without what others share. */
type Compact = OwnParts & { readonly sharedKey: string };

/** Definitions that differ only in what belongs to a code share the rest, which may be dropped before them. */
function createCompactDefinitions(size: Pick<DefinitionCacheSize, "codes" | "shared">) {
  const shared = createGenerationCache<SharedParts & { readonly key: string }>(size.shared);
  const byId = createGenerationCache<Compact>(size.codes);
  const byCode = createGenerationCache<Compact>(size.codes);
  return {
    byId: byId.get,
    byCode: byCode.get,
    expand(projectId: string, own: Compact): CachedDefinition | undefined {
      const parts = shared.get(projectId, own.sharedKey);
      return parts && withOwnParts(own, parts);
    },
    add(definition: VoucherDefinition, code: string | undefined): void {
      const { projectId, id } = definition;
      const parts = toSharedParts(definition);
      const key = keyOf(parts);
      const known = shared.get(projectId, key);
      if (known === undefined) shared.set(projectId, key, { ...parts, key });
      // The same string in all: equal strings take memory each.
      const compact = { ...toOwnParts(definition), sharedKey: known?.key ?? key };
      byId.set(projectId, id, compact);
      if (code === undefined) return;
      byCode.set(projectId, code === definition.code ? definition.code : code, compact);
    },
  };
}

const versionKey = (voucherId: string, version: bigint): string => `${voucherId}\n${version}`;

/** Short, because each definition refers to its shared parts by it. */
const keyOf = ({ definition }: SharedParts): string =>
  hash("sha256", JSON.stringify(definition, bigintAsText), "base64url");

const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? `${value}n` : value;
