import type { Queryable } from "@scrip/postgres";

import { rowKey, type VoucherUsage } from "../domain/commit.ts";
import {
  findUsages,
  lockFreeUsages,
  lockUsages,
  sortUsageNames,
  type UsageName,
} from "../store/usages.ts";
import type { Command } from "./commit-outcomes.ts";

/** What became of the vouchers of a batch, by `rowKey` of project and voucher. */
export type LockedVouchers = {
  readonly usages: ReadonlyMap<string, VoucherUsage>;
  /** Somebody else holds them. */
  readonly held: ReadonlySet<string>;
};

/** The vouchers that the commands take from, each once, in the order in which all lock them. */
export const namesToLock = (commands: readonly Command[]): readonly UsageName[] =>
  sortUsageNames(
    commands.flatMap(({ projectId, takes, refused }) =>
      refused ? [] : takes.map(({ voucherId }) => ({ projectId, voucherId })),
    ),
  );

export const keyOf = ({ projectId, voucherId }: UsageName): string => rowKey(projectId, voucherId);

/**
 * Locks the vouchers: waits for each in turn, except that those to avoid are only taken when they
 * are free. These come last, so that nobody waits while holding them: that is no deadlock then,
 * although it breaks the order.
 */
export async function lockVouchers(
  tx: Queryable,
  names: readonly UsageName[],
  avoided: ReadonlySet<string>,
): Promise<LockedVouchers> {
  const careful = names.filter((name) => avoided.has(keyOf(name)));
  const [waited, free] = await Promise.all([
    lockUsages(
      tx,
      names.filter((name) => !avoided.has(keyOf(name))),
    ),
    lockFreeUsages(tx, careful),
  ]);
  const usages = new Map([...waited, ...free].map((usage) => [keyOf(usage), usage]));
  const missing = careful.filter((name) => !usages.has(keyOf(name)));
  // One that does not exist is not held either: its redemption is refused for that.
  const held = await findUsages(tx, missing);
  return { usages, held: new Set(held.map((usage) => keyOf(usage))) };
}
