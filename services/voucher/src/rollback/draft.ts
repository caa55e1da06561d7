import type { CountIncrement } from "../domain/counts.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import type { CardBalances } from "../mapping/points.ts";
import type { CachedDefinition } from "../mapping/voucher.ts";
import type { LedgerEntry, NewEvent, NewStoredResponse } from "../store/commit-statement.ts";
import type { StoredResponse } from "../store/idempotency.ts";
import type { StoredRedemption } from "../store/redemptions.ts";
import type { NewRollback, RolledBack } from "../store/rollbacks.ts";

export type RollbackContext = {
  readonly definitions: {
    byId(projectId: string, voucherId: string): CachedDefinition | undefined;
  };
  readonly storedResponses: ReadonlyMap<string, StoredResponse>;
  /** The redemptions before their rollback, by `rowKey` of project and id. */
  readonly stored: ReadonlyMap<string, StoredRedemption>;
  /** Balances of loyalty cards, by `rowKey` of project and voucher; updated by each rollback. */
  readonly cards: Map<string, CardBalances>;
  readonly newId: (prefix: "rr" | "rrf" | "event") => string;
};

export type RollbackWrites = {
  readonly usages: readonly VoucherUsage[];
  readonly ledgerEntries: readonly LedgerEntry[];
  readonly events: readonly NewEvent[];
  readonly responses: readonly NewStoredResponse[];
  readonly rollbacks: readonly NewRollback[];
  readonly rolledBack: readonly RolledBack[];
  /** Subtracted from the totals of campaigns and tiers. */
  readonly decrements: readonly CountIncrement[];
};

/** What the batch writes, as far as its commands were built. */
export type RollbackDraft = {
  readonly usages: Map<string, VoucherUsage>;
  readonly ledgerEntries: LedgerEntry[];
  readonly events: NewEvent[];
  readonly responses: NewStoredResponse[];
  readonly rollbacks: NewRollback[];
  readonly rolledBack: RolledBack[];
  readonly decrements: CountIncrement[];
};

export type RollbackBuild = { readonly draft: RollbackDraft; readonly context: RollbackContext };
