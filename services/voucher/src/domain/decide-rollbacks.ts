import type { ErrorKey } from "@scrip/errors";

import type { ProductUnits } from "./counts.ts";
import { decideWithReplays, type KeyedCommand, type ReplayDecision } from "./idempotency.ts";
import { usageAfterRollback, rowKey, type VoucherUsage } from "./usage.ts";

/** A redemption to roll back; amounts are minor units. */
export type RollbackTarget = {
  readonly id: string;
  readonly parentId: string | null;
  readonly status: "SUCCEEDED" | "FAILED" | "ROLLED_BACK";
  readonly at: number;
  readonly customerId: string | null;
  readonly channelId: string;
  /** Either this or `tierId`; both are null for a parent. */
  readonly voucherId: string | null;
  readonly tierId: string | null;
  readonly campaignId: string | null;
  readonly amount: bigint | null;
  readonly orderAmount: bigint;
  readonly discountedAmount: bigint;
  readonly units: readonly ProductUnits[];
  /** The id and the source id of its order. */
  readonly orderNames: readonly string[];
};

export type RollbackCommand = KeyedCommand & {
  readonly redemptionId: string;
  /** Whether a parent redemption may be rolled back. */
  readonly stacked: boolean;
  /** When set, they must match the redemption. */
  readonly customerId: string | null;
  readonly orderId: string | null;
  /** Redemptions before this instant can no longer be rolled back. */
  readonly notBefore: number | null;
};

export type RollbackBatch<Command extends RollbackCommand = RollbackCommand> = {
  readonly commands: readonly Command[];
  /** The requested redemptions and their parts as locked, by `rowKey` of project and id. */
  readonly redemptions: ReadonlyMap<string, RollbackTarget>;
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Vouchers, campaigns and tiers that other transactions lock. */
  readonly lockedByOthers: ReadonlySet<string>;
  readonly storedHashes: ReadonlyMap<string, Uint8Array>;
};

export type RollbackDecision = NewRollbackDecision | ReplayDecision;

export type NewRollbackDecision =
  | {
      readonly kind: "committed";
      readonly redemption: RollbackTarget;
      /** The redemptions that return value: its parts, or the redemption itself. */
      readonly parts: readonly RollbackTarget[];
      /** The usages of their vouchers right after, or null for a tier. */
      readonly usages: readonly (VoucherUsage | null)[];
    }
  | {
      readonly kind: "rejected";
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
      /** The redemption to record a failed rollback for; null records nothing. */
      readonly recorded: RollbackTarget | null;
    }
  | { readonly kind: "not_found" }
  | { readonly kind: "locked" };

/**
 * Decides rollbacks over the locked rows, in the order of arrival: all parts of a redemption or none, and each
 * redemption once (docs/redemption-and-rollback.md#rollback). Vouchers may have expired or been disabled since.
 */
export function decideRollbacks(batch: RollbackBatch): readonly RollbackDecision[] {
  const usages = new Map(batch.usages);
  const rolledBack = new Set<string>();
  const partsOf = Map.groupBy(batch.redemptions, ([key, { parentId }]) =>
    parentId === null ? "" : rowKey(projectOf(key), parentId),
  );
  return decideWithReplays<RollbackCommand, NewRollbackDecision>(
    batch.commands,
    batch.storedHashes,
    {
      decide(command) {
        const { projectId } = command;
        const key = rowKey(projectId, command.redemptionId);
        const redemption = batch.redemptions.get(key);
        if (redemption === undefined) return { kind: "not_found" };
        const children = (partsOf.get(key) ?? []).map(([, part]) => part);
        const rejection = findRejection(command, redemption, {
          isParent: children.length > 0,
          isRolledBack: redemption.status === "ROLLED_BACK" || rolledBack.has(key),
        });
        if (rejection !== undefined) return rejection;
        const parts = children.length > 0 ? children : [redemption];
        if (parts.some((part) => isLockedByOthers(projectId, part, batch.lockedByOthers)))
          return { kind: "locked" };
        rolledBack.add(key);
        return {
          kind: "committed",
          redemption,
          parts,
          usages: returnValue(projectId, parts, usages),
        };
      },
      isFinal,
    },
  );
}

/** A command that the caller tries again has no final outcome, so its key stays free. */
export const isFinal = ({ kind }: RollbackDecision): boolean => kind !== "locked";

const projectOf = (key: string): string => key.slice(0, key.indexOf("\n"));

function isLockedByOthers(
  projectId: string,
  { voucherId, tierId, campaignId }: RollbackTarget,
  lockedByOthers: ReadonlySet<string>,
): boolean {
  if (lockedByOthers.size === 0) return false;
  return [voucherId, tierId, campaignId].some(
    (id) => id !== null && lockedByOthers.has(rowKey(projectId, id)),
  );
}

function returnValue(
  projectId: string,
  parts: readonly RollbackTarget[],
  usages: Map<string, VoucherUsage>,
): readonly (VoucherUsage | null)[] {
  return parts.map(({ voucherId, amount }) => {
    if (voucherId === null) return null;
    const key = rowKey(projectId, voucherId);
    const usage = usages.get(key);
    if (usage === undefined) throw new Error(`voucher ${voucherId} has no usage`);
    const after = usageAfterRollback(usage, amount ?? 0n);
    usages.set(key, after);
    return after;
  });
}

function findRejection(
  command: RollbackCommand,
  redemption: RollbackTarget,
  state: { readonly isParent: boolean; readonly isRolledBack: boolean },
): NewRollbackDecision | undefined {
  const reject = (
    key: Extract<NewRollbackDecision, { kind: "rejected" }>["key"],
    details: string,
    recorded: RollbackTarget | null = null,
  ): NewRollbackDecision => ({ kind: "rejected", key, details, recorded });
  if (redemption.parentId !== null) return reject("invalid_redemption_parent", HAS_A_PARENT);
  if (state.isParent && !command.stacked) return reject("invalid_redemption", IS_STACKED);
  if (redemption.status === "FAILED") return reject("invalid_redemption", HAS_FAILED);
  if (command.customerId !== null && command.customerId !== redemption.customerId) {
    return reject("invalid_customer", NOT_ITS_CUSTOMER);
  }
  if (command.orderId !== null && !redemption.orderNames.includes(command.orderId)) {
    return reject("invalid_order", NOT_ITS_ORDER);
  }
  // Before the age: an earlier rollback is the more specific reason.
  if (state.isRolledBack) return reject("already_rolled_back", ROLLED_BACK, redemption);
  if (command.notBefore !== null && redemption.at < command.notBefore) {
    return reject("invalid_rollback_params", TOO_OLD);
  }
  return undefined;
}

const HAS_A_PARENT = "You can rollback only a redemption that does not have parent redemption.";
const IS_STACKED =
  "You can rollback only a single redemption. Use different endpoint for stacked redemption.";
const HAS_FAILED = "You can roll back only a redemption that succeeded.";
const NOT_ITS_CUSTOMER = "Customer is not related with redemption.";
const NOT_ITS_ORDER = "Order is not related with redemption.";
const ROLLED_BACK = "Redemption has been already rolled back.";
const TOO_OLD = "Redemption is too old to be rolled back.";
