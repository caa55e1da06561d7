/** What is left of a voucher: the row that a redemption locks. Amounts are minor units. */
export type VoucherUsage = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly definitionVersion: bigint;
  readonly deleted: boolean;
  /** How often it may be redeemed; null means without limit. */
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  /** Gift vouchers only: what was put on the card, and what is left of it. */
  readonly amount: bigint | null;
  readonly balance: bigint | null;
  readonly redeemedAmount: bigint;
  /** Grows with every change of this row. */
  readonly version: bigint;
  /** The number of ledger entries. */
  readonly ledgerVersion: bigint;
};

export type Take = {
  readonly voucherId: string;
  /** The definition that the decision was made on. */
  readonly definitionVersion: bigint;
  /** To take from a gift voucher. */
  readonly credits: bigint;
};

/** A request to redeem vouchers, all or none, or to record that they were refused. */
export type CommitCommand = {
  readonly projectId: string;
  readonly idempotency: IdempotencyKey | null;
  readonly takes: readonly Take[];
  readonly refused: boolean;
};

export type IdempotencyKey = { readonly key: string; readonly requestHash: Uint8Array };

export type CommitBatch<Command extends CommitCommand = CommitCommand> = {
  /** In the order of arrival. */
  readonly commands: readonly Command[];
  /** As locked, by `rowKey` of project and voucher. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Vouchers that were left out because somebody else holds them, named in the same way. */
  readonly held: ReadonlySet<string>;
  /** Hashes of the requests that were answered before, by `rowKey` of project and key. */
  readonly answered: ReadonlyMap<string, Uint8Array>;
};

export type CommandDecision =
  /** Take it: each voucher right after, in the order of the takes. */
  | { readonly kind: "made"; readonly usages: readonly VoucherUsage[] }
  /** A guard no longer holds for the voucher of this take. */
  | { readonly kind: "refused"; readonly key: GuardKey; readonly take: number }
  /** The command came as a refusal, to be recorded. */
  | { readonly kind: "recorded" }
  /** Since it was gathered, the voucher was deleted, … */
  | { readonly kind: "gone"; readonly take: number }
  /** … or changed, so that the decision must be made again. */
  | { readonly kind: "stale" }
  /** Somebody else holds the voucher of this take, so that nothing can be said of it now. */
  | { readonly kind: "held"; readonly take: number }
  /** Answered before: by an earlier batch, or by the command of this batch at `position`. */
  | { readonly kind: "replayed"; readonly position: number | null }
  | { readonly kind: "key_reused" };

export type GuardKey = "quantity_exceeded" | "gift_amount_exceeded";

/**
 * Decides a batch of commands over the locked vouchers, one after the other in the order of their
 * arrival, each on what the ones before it left. The decision is the whole truth of a redemption:
 * whoever stores it adds nothing but ids, dates and texts.
 */
export function decideCommits(batch: CommitBatch): readonly CommandDecision[] {
  const usages = new Map(batch.usages);
  const answeredHere = new Map<string, number>();
  return batch.commands.map((command, position) => {
    const { idempotency } = command;
    if (idempotency === null) return decideCommand(command, usages, batch.held);
    const key = rowKey(command.projectId, idempotency.key);
    const stored = batch.answered.get(key);
    if (stored !== undefined) return repeat(stored, idempotency, null);
    const earlier = answeredHere.get(key);
    if (earlier !== undefined) {
      const first = batch.commands[earlier]?.idempotency?.requestHash;
      return repeat(first, idempotency, earlier);
    }
    const decision = decideCommand(command, usages, batch.held);
    if (isAnswer(decision)) answeredHere.set(key, position);
    return decision;
  });
}

/** A command that is to be tried again has no answer yet, so nothing keeps its key. */
export const isAnswer = ({ kind }: CommandDecision): boolean => kind !== "stale" && kind !== "held";

/** One string for a row that is found by project and something else. */
export const rowKey = (projectId: string, id: string): string => `${projectId}\n${id}`;

function repeat(
  hash: Uint8Array | undefined,
  { requestHash }: IdempotencyKey,
  position: number | null,
): CommandDecision {
  if (hash === undefined || !equalBytes(hash, requestHash)) return { kind: "key_reused" };
  return { kind: "replayed", position };
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function decideCommand(
  command: CommitCommand,
  usages: Map<string, VoucherUsage>,
  held: ReadonlySet<string>,
): CommandDecision {
  if (command.refused) return { kind: "recorded" };
  const heldTake = command.takes.findIndex(({ voucherId }) =>
    held.has(rowKey(command.projectId, voucherId)),
  );
  if (heldTake !== -1) return { kind: "held", take: heldTake };
  const outdated = findOutdated(command, usages);
  if (outdated !== undefined) return outdated;

  const after: VoucherUsage[] = [];
  for (const [take, { voucherId, credits }] of command.takes.entries()) {
    // One command may name a voucher twice: the second take sees the first.
    const usage =
      after.findLast((one) => one.voucherId === voucherId) ??
      usages.get(rowKey(command.projectId, voucherId));
    if (usage === undefined) return { kind: "gone", take };
    const key = checkGuards(usage, credits);
    if (key !== undefined) return { kind: "refused", key, take };
    after.push(applyTake(usage, credits));
  }
  for (const usage of after) usages.set(rowKey(command.projectId, usage.voucherId), usage);
  return { kind: "made", usages: after };
}

function findOutdated(
  { projectId, takes }: CommitCommand,
  usages: ReadonlyMap<string, VoucherUsage>,
): CommandDecision | undefined {
  let stale = false;
  for (const [take, { voucherId, definitionVersion }] of takes.entries()) {
    const usage = usages.get(rowKey(projectId, voucherId));
    if (usage === undefined || usage.deleted) return { kind: "gone", take };
    stale ||= usage.definitionVersion !== definitionVersion;
  }
  return stale ? { kind: "stale" } : undefined;
}

function checkGuards(usage: VoucherUsage, credits: bigint): GuardKey | undefined {
  if (usage.quantity !== null && usage.redeemedQuantity >= usage.quantity) {
    return "quantity_exceeded";
  }
  if (credits < 0n || credits > (usage.balance ?? 0n)) return "gift_amount_exceeded";
  return undefined;
}

function applyTake(usage: VoucherUsage, credits: bigint): VoucherUsage {
  return {
    projectId: usage.projectId,
    voucherId: usage.voucherId,
    definitionVersion: usage.definitionVersion,
    deleted: false,
    quantity: usage.quantity,
    redeemedQuantity: usage.redeemedQuantity + 1n,
    amount: usage.amount,
    balance: usage.balance === null ? null : usage.balance - credits,
    redeemedAmount: usage.redeemedAmount + credits,
    version: usage.version + 1n,
    // An entry of nothing would say nothing.
    ledgerVersion: credits === 0n ? usage.ledgerVersion : usage.ledgerVersion + 1n,
  };
}
