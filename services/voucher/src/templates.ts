import { createRecent, type Queryable } from "@scrip/postgres";

import { rowKey } from "./domain/commit.ts";
import { templateOf, type VoucherTemplate } from "./handlers/voucher-message.ts";
import { findVouchersById, type VoucherId } from "./store/vouchers.ts";

/** The vouchers that a process answers about again and again. */
export type Templates = {
  /** By id, in whatever version was seen last: the caller compares it with the locked one. */
  readonly byId: (projectId: string, voucherId: string) => VoucherTemplate | undefined;
  /** That version or none. */
  readonly byVersion: (
    projectId: string,
    voucherId: string,
    version: bigint,
  ) => VoucherTemplate | undefined;
  /** By what was sent for it, a code or an id. */
  readonly byCode: (projectId: string, code: string) => VoucherTemplate | undefined;
  readonly remember: (template: VoucherTemplate, code?: string) => void;
  /** Reads those that are missing, or seen in another version than the one that is asked for. */
  readonly load: (db: Queryable, wanted: readonly WantedTemplate[]) => Promise<void>;
};

/** Edits are rare beside redemptions. */
const REPLACED_SHARE = 20;

export type WantedTemplate = VoucherId & { readonly version: bigint };

/**
 * Caches definitions, never counters. A version of a definition never changes, and whoever answers
 * with one compares its version with that of a row just read, so nothing here can be out of date.
 */
export function createTemplates(size: number): Templates {
  const byId = createRecent<VoucherTemplate>(size);
  const byCode = createRecent<VoucherTemplate>(size);
  // What was replaced a moment ago, which commands that are under way were decided on.
  const replaced = createRecent<VoucherTemplate>(Math.ceil(size / REPLACED_SHARE));
  const byVersion: Templates["byVersion"] = (projectId, voucherId, version) => {
    const key = rowKey(projectId, voucherId);
    const latest = byId.get(key);
    return latest?.definition.version === version ? latest : replaced.get(`${key}\n${version}`);
  };
  const remember: Templates["remember"] = (template, code) => {
    const { projectId, id, version } = template.definition;
    const key = rowKey(projectId, id);
    const before = byId.get(key);
    if (before !== undefined && before.definition.version !== version) {
      replaced.set(`${key}\n${before.definition.version}`, before);
    }
    byId.set(key, template);
    if (code !== undefined) byCode.set(rowKey(projectId, code), template);
  };
  return {
    byId: (projectId, voucherId) => byId.get(rowKey(projectId, voucherId)),
    byVersion,
    byCode: (projectId, code) => byCode.get(rowKey(projectId, code)),
    remember,
    async load(db, wanted) {
      const missing = wanted.filter(
        ({ projectId, id, version }) => byVersion(projectId, id, version) === undefined,
      );
      if (missing.length === 0) return;
      for (const { definition } of await findVouchersById(db, missing)) {
        remember(templateOf(definition));
      }
    },
  };
}
