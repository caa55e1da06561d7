import { type Addition, createTally, type Guard, type KnownCount, type Units } from "./counts.ts";
import { decideOnce, type KeyedCommand, type Repetition } from "./idempotency.ts";
import { createSessionLocks, type KnownLocks, type Locked } from "./session-locks.ts";
import { rowKey, takeFrom, type VoucherUsage } from "./usage.ts";

export { rowKey, type VoucherUsage } from "./usage.ts";

/** One redeemable of a command: a voucher, or a promotion tier, of which nothing is taken. */
export type Part = {
  readonly voucherId: string | null;
  readonly tierId: string | null;
  /** Of a voucher: the definition that the decision was made on. */
  readonly definitionVersion: bigint;
  /** To take from a gift voucher. */
  readonly credits: bigint;
  /** Of a loyalty card: what holds its points. */
  readonly spendId: string | null;
  readonly campaignId: string | null;
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly units: readonly Units[];
  readonly guards: readonly Guard[];
};

/** A request to redeem parts, all or none, or to record that they were refused. */
export type CommitCommand = KeyedCommand & {
  /** The project's present, in epoch milliseconds. */
  readonly at: number;
  readonly customerId: string | null;
  readonly channelId: string;
  /** What this session holds does not count against the command, and is released by it. */
  readonly sessionKey: string | null;
  readonly parts: readonly Part[];
  readonly refused: boolean;
  /** When parts can no longer be taken, the others still may: it is decided again. */
  readonly isPartial: boolean;
};

export type CommitBatch<Command extends CommitCommand = CommitCommand> = {
  /** In the order of arrival. */
  readonly commands: readonly Command[];
  /** As locked, by `rowKey` of project and voucher. */
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Vouchers, tiers and campaigns that were left out because somebody else holds them. */
  readonly held: ReadonlySet<string>;
  /** Hashes of the requests that were answered before, by `rowKey` of project and key. */
  readonly answered: ReadonlyMap<string, Uint8Array>;
  /** All counts that the guards name, as they are under the locks. */
  readonly counts: readonly KnownCount[];
  readonly locks: KnownLocks;
  /** Spends of points that were used or given up, by `rowKey` of project and spend. */
  readonly claimed: ReadonlySet<string>;
};

export type CommandDecision = CommandVerdict | Repetition;

export type CommandVerdict =
  /** Take it: the voucher of each part right after, or null for a tier. */
  | { readonly kind: "made"; readonly usages: readonly (VoucherUsage | null)[] }
  /** The voucher of this part is used up. */
  | {
      readonly kind: "refused";
      readonly key: GuardKey;
      readonly part: number;
      /** Of the credits of a gift voucher. */
      readonly left?: bigint;
    }
  /** This count of this part no longer allows it. */
  | { readonly kind: "guarded"; readonly part: number; readonly guard: number }
  /** The command came as a refusal, to be recorded. */
  | { readonly kind: "recorded" }
  /** Since it was gathered, the voucher was deleted, … */
  | { readonly kind: "gone"; readonly part: number }
  /** … or changed, so that the decision must be made again. */
  | { readonly kind: "stale"; readonly lost: readonly ConflictingPart[] }
  /** Somebody else holds what this part needs, so that nothing can be said of it now. */
  | { readonly kind: "held"; readonly part: number };

/** What a part of a partial command can no longer be taken for. */
export type ConflictingPart = Extract<CommandVerdict, { readonly kind: "refused" | "guarded" }>;

export type GuardKey = "quantity_exceeded" | "gift_amount_exceeded";

type State = {
  readonly usages: Map<string, VoucherUsage>;
  readonly held: ReadonlySet<string>;
  readonly claimed: ReadonlySet<string>;
  readonly tally: ReturnType<typeof createTally>;
  readonly locks: ReturnType<typeof createSessionLocks>;
};

/**
 * Decides a batch of commands over the locked rows, one after the other in the order of their
 * arrival, each on what the ones before it left. The decision is the whole truth of a redemption:
 * whoever stores it adds nothing but ids, dates and texts.
 */
export function decideCommits(batch: CommitBatch): readonly CommandDecision[] {
  const state: State = {
    usages: new Map(batch.usages),
    held: batch.held,
    claimed: batch.claimed,
    tally: createTally(batch.counts),
    locks: createSessionLocks(batch.locks),
  };
  return decideOnce<CommitCommand, CommandVerdict>(batch.commands, batch.answered, {
    decide: (command) => decideCommand(command, state),
    isAnswer,
  });
}

/** A command that is to be tried again has no answer yet, so nothing keeps its key. */
export const isAnswer = ({ kind }: CommandDecision): boolean => kind !== "stale" && kind !== "held";

/** The rows that a part needs: what it takes from and adds to, and what its guards count in. */
export function rowsOf({ voucherId, tierId, campaignId, guards }: Part): PartRows {
  const vouchers = voucherId === null ? [] : [voucherId];
  const scopes = [tierId, campaignId].filter((id) => id !== null);
  for (const { count } of guards) {
    const rows = count.scope === "voucher" ? vouchers : scopes;
    if (!rows.includes(count.scopeId)) rows.push(count.scopeId);
  }
  return { vouchers, scopes };
}

/** Scopes are campaigns and promotion tiers. */
export type PartRows = { readonly vouchers: readonly string[]; readonly scopes: readonly string[] };

function isHeld(part: Part, projectId: string, held: ReadonlySet<string>): boolean {
  const { vouchers, scopes } = rowsOf(part);
  return [...vouchers, ...scopes].some((id) => held.has(rowKey(projectId, id)));
}

function decideCommand(command: CommitCommand, state: State): CommandVerdict {
  const { projectId, parts, sessionKey } = command;
  if (command.refused) return { kind: "recorded" };
  if (state.held.size > 0) {
    const part = parts.findIndex((one) => isHeld(one, projectId, state.held));
    if (part !== -1) return { kind: "held", part };
  }
  if (parts.some(({ spendId }) => isClaimed(projectId, spendId, state))) return STALE;
  const outdated = findOutdated(command, state.usages);
  if (outdated !== undefined) return command.isPartial ? STALE : outdated;
  const verdict = takeParts(command, state);
  if (verdict.kind !== "made") return verdict;
  for (const usage of verdict.usages) {
    if (usage !== null) state.usages.set(rowKey(projectId, usage.voucherId), usage);
  }
  if (sessionKey !== null) state.locks.release(projectId, sessionKey);
  return verdict;
}

const isClaimed = (projectId: string, spendId: string | null, { claimed }: State): boolean =>
  spendId !== null && claimed.has(rowKey(projectId, spendId));

/**
 * Each part on what the ones before it left, also when they name the same voucher or campaign. A
 * partial command is told of all parts that it lost at once: so that it is decided again few times.
 */
function takeParts(command: CommitCommand, state: State): CommandVerdict {
  const after: (VoucherUsage | null)[] = [];
  const added: Addition[] = [];
  const lost: ConflictingPart[] = [];
  const refuse = (verdict: CommandVerdict): CommandVerdict => {
    for (const addition of added) state.tally.add(addition, -1n);
    return verdict;
  };
  for (const [position, part] of command.parts.entries()) {
    const taken = takePart(command, position, after, state);
    if (taken.kind === "taken") {
      after.push(taken.usage);
      const addition = additionOf(command, part);
      state.tally.add(addition, 1n);
      added.push(addition);
    } else if (command.isPartial && (taken.kind === "refused" || taken.kind === "guarded")) {
      lost.push(taken);
    } else {
      return refuse(taken);
    }
  }
  return lost.length > 0 ? refuse({ kind: "stale", lost }) : { kind: "made", usages: after };
}

type TakenPart = { readonly kind: "taken"; readonly usage: VoucherUsage | null };

function takePart(
  { projectId, sessionKey, parts }: CommitCommand,
  part: number,
  before: readonly (VoucherUsage | null)[],
  { usages, tally, locks }: State,
): TakenPart | CommandVerdict {
  const { voucherId = null, credits = 0n, guards = [] } = parts[part] ?? {};
  let after: VoucherUsage | null = null;
  if (voucherId !== null) {
    const usage =
      before.findLast((earlier) => earlier?.voucherId === voucherId) ??
      usages.get(rowKey(projectId, voucherId));
    if (usage === undefined) return { kind: "gone", part };
    const others = usage.reserved ? locks.ofOthers(projectId, voucherId, sessionKey) : NOTHING;
    const lack = whatLacks(usage, credits, others);
    if (lack !== undefined) return { kind: "refused", part, ...lack };
    // A mark that marks nothing any more is wiped off with the write that happens anyway.
    after = takeFrom(usage, credits, others.quantity > 0n);
  }
  const guard = guards.findIndex((each) => !tally.holds(each));
  if (guard === -1) return { kind: "taken", usage: after };
  return guards[guard]?.refuses === true ? { kind: "guarded", part, guard } : STALE;
}

const STALE: CommandVerdict = { kind: "stale", lost: [] };

const NOTHING: Locked = { quantity: 0n, credits: 0n };

export const additionOf = (command: CommitCommand, part: Part): Addition => ({
  projectId: command.projectId,
  voucherId: part.voucherId,
  tierId: part.tierId,
  campaignId: part.campaignId,
  customerId: command.customerId,
  channelId: command.channelId,
  at: command.at,
  orderAmount: part.orderAmount,
  discountedAmount: part.discountedAmount,
  credits: part.credits,
  units: part.units,
});

function findOutdated(
  { projectId, parts }: CommitCommand,
  usages: ReadonlyMap<string, VoucherUsage>,
): CommandVerdict | undefined {
  let stale = false;
  for (const [part, { voucherId, definitionVersion }] of parts.entries()) {
    if (voucherId === null) continue;
    const usage = usages.get(rowKey(projectId, voucherId));
    if (usage === undefined || usage.deleted) return { kind: "gone", part };
    stale ||= usage.definitionVersion !== definitionVersion;
  }
  return stale ? STALE : undefined;
}

type Lack = { readonly key: GuardKey; readonly left?: bigint };

function whatLacks(usage: VoucherUsage, credits: bigint, others: Locked): Lack | undefined {
  if (usage.quantity !== null && usage.redeemedQuantity + others.quantity >= usage.quantity) {
    return { key: "quantity_exceeded" };
  }
  // Nothing is always there, also when an edit left less than what is held.
  if (credits === 0n) return undefined;
  const free = (usage.balance ?? 0n) - others.credits;
  const left = free > 0n ? free : 0n;
  return credits < 0n || credits > free ? { key: "gift_amount_exceeded", left } : undefined;
}
