import type { ErrorKey } from "@scrip/errors";

import type { Units } from "./counts.ts";
import { decideOnce, type KeyedCommand, type Repetition } from "./idempotency.ts";
import { giveBackTo, rowKey, type VoucherUsage } from "./usage.ts";

/** A redemption as it is taken back; amounts are minor units. */
export type Redeemed = {
  readonly id: string;
  readonly parentId: string | null;
  readonly status: "SUCCEEDED" | "FAILED" | "ROLLED_BACK";
  readonly at: number;
  readonly customerId: string | null;
  readonly channelId: string;
  /** One of these two, or none of a parent. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly amount: bigint | null;
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly units: readonly Units[];
  /** What its order may be called by: its id and its source id. */
  readonly orderNames: readonly string[];
};

export type RollbackCommand = KeyedCommand & {
  readonly redemptionId: string;
  /** Whether a parent may be taken back. */
  readonly stacked: boolean;
  /** When given, they must be those of the redemption. */
  readonly customerId: string | null;
  readonly orderId: string | null;
  /** What was redeemed before cannot be taken back any more. */
  readonly notBefore: number | null;
};

export type RollbackBatch<Command extends RollbackCommand = RollbackCommand> = {
  readonly commands: readonly Command[];
  /** Named ones and their parts, by `rowKey` of project and id, as they are under their locks. */
  readonly redemptions: ReadonlyMap<string, Redeemed>;
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Vouchers, campaigns and tiers that somebody else holds. */
  readonly held: ReadonlySet<string>;
  readonly answered: ReadonlyMap<string, Uint8Array>;
};

export type RollbackDecision = RollbackVerdict | Repetition;

export type RollbackVerdict =
  | {
      readonly kind: "made";
      readonly redemption: Redeemed;
      /** What gives value back: its parts, or the redemption itself. */
      readonly parts: readonly Redeemed[];
      /** Their vouchers right after, or null for a tier. */
      readonly usages: readonly (VoucherUsage | null)[];
    }
  | {
      readonly kind: "refused";
      readonly key: Extract<
        ErrorKey,
        | "already_rolled_back"
        | "invalid_redemption"
        | "invalid_redemption_parent"
        | "invalid_customer"
        | "invalid_order"
        | "invalid_rollback_params"
      >;
      readonly details: string;
      /** What is to be recorded as refused; null: nothing. */
      readonly recorded: Redeemed | null;
    }
  | { readonly kind: "gone" }
  | { readonly kind: "held" };

/**
 * Decides rollbacks over the locked rows, each on what the ones before it gave back: all parts of a
 * redemption or none, and each redemption once (spec/validation-and-redemption.md §8.7). Whether a
 * voucher is expired or disabled by now does not matter.
 */
export function decideRollbacks(batch: RollbackBatch): readonly RollbackDecision[] {
  const usages = new Map(batch.usages);
  const rolledBack = new Set<string>();
  const partsOf = Map.groupBy(batch.redemptions, ([key, { parentId }]) =>
    parentId === null ? "" : rowKey(projectOf(key), parentId),
  );
  return decideOnce<RollbackCommand, RollbackVerdict>(batch.commands, batch.answered, {
    decide(command) {
      const { projectId } = command;
      const key = rowKey(projectId, command.redemptionId);
      const redemption = batch.redemptions.get(key);
      if (redemption === undefined) return { kind: "gone" };
      const children = (partsOf.get(key) ?? []).map(([, part]) => part);
      const refusal = whatForbids(command, redemption, {
        isParent: children.length > 0,
        isRolledBack: redemption.status === "ROLLED_BACK" || rolledBack.has(key),
      });
      if (refusal !== undefined) return refusal;
      const parts = children.length > 0 ? children : [redemption];
      if (parts.some((part) => isHeld(projectId, part, batch.held))) return { kind: "held" };
      rolledBack.add(key);
      return { kind: "made", redemption, parts, usages: giveBack(projectId, parts, usages) };
    },
    isAnswer,
  });
}

/** A command that is to be tried again has no answer yet; neither has one of something unknown. */
export const isAnswer = ({ kind }: RollbackDecision): boolean => kind !== "held";

const projectOf = (key: string): string => key.slice(0, key.indexOf("\n"));

function isHeld(
  projectId: string,
  { voucherId, tierId, campaignId }: Redeemed,
  held: ReadonlySet<string>,
): boolean {
  if (held.size === 0) return false;
  return [voucherId, tierId, campaignId].some(
    (id) => id !== null && held.has(rowKey(projectId, id)),
  );
}

function giveBack(
  projectId: string,
  parts: readonly Redeemed[],
  usages: Map<string, VoucherUsage>,
): readonly (VoucherUsage | null)[] {
  return parts.map(({ voucherId, amount }) => {
    if (voucherId === null) return null;
    const key = rowKey(projectId, voucherId);
    const usage = usages.get(key);
    if (usage === undefined) throw new Error(`voucher ${voucherId} has no usage`);
    const after = giveBackTo(usage, amount ?? 0n);
    usages.set(key, after);
    return after;
  });
}

function whatForbids(
  command: RollbackCommand,
  redemption: Redeemed,
  state: { readonly isParent: boolean; readonly isRolledBack: boolean },
): RollbackVerdict | undefined {
  const refuse = (
    key: Extract<RollbackVerdict, { kind: "refused" }>["key"],
    details: string,
    recorded: Redeemed | null = null,
  ): RollbackVerdict => ({ kind: "refused", key, details, recorded });
  if (redemption.parentId !== null) return refuse("invalid_redemption_parent", HAS_A_PARENT);
  if (state.isParent && !command.stacked) return refuse("invalid_redemption", IS_STACKED);
  if (redemption.status === "FAILED") return refuse("invalid_redemption", HAS_FAILED);
  if (command.customerId !== null && command.customerId !== redemption.customerId) {
    return refuse("invalid_customer", NOT_ITS_CUSTOMER);
  }
  if (command.orderId !== null && !redemption.orderNames.includes(command.orderId)) {
    return refuse("invalid_order", NOT_ITS_ORDER);
  }
  // Before its age: that it was taken back says more than that it would be too late.
  if (state.isRolledBack) return refuse("already_rolled_back", ROLLED_BACK, redemption);
  if (command.notBefore !== null && redemption.at < command.notBefore) {
    return refuse("invalid_rollback_params", TOO_OLD);
  }
  return undefined;
}

const HAS_A_PARENT = "You can rollback only a redemption that does not have parent redemption.";
const IS_STACKED =
  "You can rollback only a single redemption. Use different endpoint for stacked redemption.";
const HAS_FAILED = "You can rollback only a redemption that succeeded.";
const NOT_ITS_CUSTOMER = "Customer is not related with redemption.";
const NOT_ITS_ORDER = "Order is not related with redemption.";
const ROLLED_BACK = "Redemption has been already rolled back.";
const TOO_OLD = "Redemption is too old to be rolled back.";
