import type { Queryable } from "@scrip/postgres";

import { rowKey } from "./domain/commit.ts";
import { templateOf, type VoucherTemplate } from "./handlers/voucher-message.ts";
import { findVouchersById, type VoucherId } from "./store/vouchers.ts";

/** The vouchers that a process answers about again and again. */
export type Templates = {
  /** By id, in whatever version was seen last: the caller compares it with the locked one. */
  readonly byId: (projectId: string, voucherId: string) => VoucherTemplate | undefined;
  /** By what was sent for it, a code or an id. */
  readonly byCode: (projectId: string, code: string) => VoucherTemplate | undefined;
  readonly remember: (template: VoucherTemplate, code?: string) => void;
  /** Reads those that are missing, or seen in another version than the one that is asked for. */
  readonly load: (db: Queryable, wanted: readonly WantedTemplate[]) => Promise<void>;
};

export type WantedTemplate = VoucherId & { readonly version: bigint };

/**
 * Caches definitions, never counters. A version of a definition never changes, and whoever answers
 * with one compares its version with that of a row just read, so nothing here can be out of date.
 */
export function createTemplates(size: number): Templates {
  const byId = createCache<VoucherTemplate>(size);
  const byCode = createCache<VoucherTemplate>(size);
  const remember: Templates["remember"] = (template, code) => {
    const { projectId, id } = template.definition;
    byId.set(rowKey(projectId, id), template);
    if (code !== undefined) byCode.set(rowKey(projectId, code), template);
  };
  return {
    byId: (projectId, voucherId) => byId.get(rowKey(projectId, voucherId)),
    byCode: (projectId, code) => byCode.get(rowKey(projectId, code)),
    remember,
    async load(db, wanted) {
      const missing = wanted.filter(
        ({ projectId, id, version }) =>
          byId.get(rowKey(projectId, id))?.definition.version !== version,
      );
      if (missing.length === 0) return;
      for (const { definition } of await findVouchersById(db, missing)) {
        remember(templateOf(definition));
      }
    },
  };
}

type Cache<Value> = { get(key: string): Value | undefined; set(key: string, value: Value): void };

/**
 * Forgets what was not asked for while its young half filled up once: two maps instead of a list in
 * the order of use, so that a hit costs one lookup and moves nothing.
 */
function createCache<Value>(size: number): Cache<Value> {
  const half = Math.max(1, Math.ceil(size / 2));
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const set = (key: string, value: Value): void => {
    if (young.size >= half && !young.has(key)) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
  };
  return {
    set,
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
  };
}
