import type { CountIncrement } from "../domain/counts.ts";
import type { VoucherUsage } from "../domain/usage.ts";
import type { CachedDefinition } from "../mapping/voucher.ts";
import type {
  LedgerEntry,
  NewEvent,
  NewRedemption,
  NewStoredResponse,
} from "../store/commit-statement.ts";
import type { StoredResponse } from "../store/idempotency.ts";
import type { HoldClaim } from "../store/points-claims.ts";
import type { RewardRedemption } from "../store/reward-redemptions.ts";

/** What building outcomes may read. */
export type CommitContext = {
  readonly definitions: {
    byId(projectId: string, voucherId: string): CachedDefinition | undefined;
  };
  readonly storedResponses: ReadonlyMap<string, StoredResponse>;
  readonly newId: (prefix: "r" | "rf" | "event") => string;
};

/** What the batch writes, as far as its commands were built. */
export type CommitDraft = {
  readonly usages: Map<string, VoucherUsage>;
  readonly redemptions: NewRedemption[];
  readonly ledgerEntries: LedgerEntry[];
  readonly events: NewEvent[];
  readonly responses: NewStoredResponse[];
  readonly increments: CountIncrement[];
  readonly claims: HoldClaim[];
  readonly rewards: RewardRedemption[];
  readonly sessions: { readonly projectId: string; readonly sessionKey: string }[];
};

export type CommitBuild = { readonly draft: CommitDraft; readonly context: CommitContext };
