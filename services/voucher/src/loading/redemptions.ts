import type { Queryable } from "@scrip/postgres";
import type { Redemption } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { mapInterleaved, UNLIMITED } from "@scrip/rpc";

import { rowKey } from "../domain/usage.ts";
import { relatedRedemptions, redemptionToProto } from "../mapping/redemption.ts";
import { rollbackEntryToProto } from "../mapping/rollback.ts";
import { describeRewards } from "../reward/describe-rewards.ts";
import type { RedemptionEntry } from "../store/redemption-lists.ts";
import { findParts, findRedemptions, type StoredRedemption } from "../store/redemptions.ts";
import { findRollbacks, findRollbacksOf, type StoredRollback } from "../store/rollbacks.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { findVouchersById } from "../store/vouchers.ts";

/** Loads redemptions and rollbacks of one project in the given order, each kind with one query. */
export async function loadEntries(
  db: Queryable,
  projectId: string,
  entries: readonly RedemptionEntry[],
): Promise<Redemption[]> {
  const named = (isRollback: boolean) =>
    entries.filter((one) => one.isRollback === isRollback).map(({ id }) => ({ projectId, id }));
  const rollbacks = await findRollbacks(db, named(true));
  // The message of a rollback needs its redemption.
  const wanted = [...named(false), ...rollbacks.map(({ redemptionId: id }) => ({ projectId, id }))];
  const redemptions = await findRedemptions(db, unique(wanted));
  const messages = await buildMessages(db, projectId, { redemptions, rollbacks });
  return describeRewards(
    db,
    projectId,
    entries.flatMap(({ id }) => messages.get(id) ?? []),
  );
}

/** Messages of redemptions, in the given order. */
export async function loadRedemptions(
  db: Queryable,
  projectId: string,
  redemptions: readonly StoredRedemption[],
): Promise<Redemption[]> {
  const messages = await buildMessages(db, projectId, { redemptions, rollbacks: [] });
  return describeRewards(
    db,
    projectId,
    redemptions.flatMap(({ id }) => messages.get(id) ?? []),
  );
}

const unique = (names: readonly { readonly projectId: string; readonly id: string }[]) => [
  ...new Map(names.map((name) => [name.id, name])).values(),
];

async function buildMessages(
  db: Queryable,
  projectId: string,
  found: {
    readonly redemptions: readonly StoredRedemption[];
    readonly rollbacks: readonly StoredRollback[];
  },
): Promise<ReadonlyMap<string, Redemption>> {
  const { redemptions, rollbacks } = found;
  const [vouchers, parts, back] = await Promise.all([
    vouchersOf(db, projectId, redemptions),
    findParts(db, redemptions.filter(isParent)),
    findRollbacksOf(
      db,
      redemptions.filter(({ status }) => status === "ROLLED_BACK"),
    ),
  ]);
  const partsOf = Map.groupBy(parts, ({ parentId }) => parentId);
  const backOf = Map.groupBy(back, ({ redemptionId }) => redemptionId);
  const voucherOf = ({ voucherId }: { readonly voucherId: string | null }) =>
    voucherId === null ? undefined : vouchers.get(rowKey(projectId, voucherId));
  const withRelated = (one: StoredRedemption): readonly [string, Redemption] => {
    const related = relatedRedemptions({
      rollbacks: backOf.get(one.id) ?? [],
      parts: partsOf.get(one.id) ?? [],
    });
    const message = redemptionToProto(one, voucherOf(one));
    return [one.id, related === undefined ? message : { ...message, relatedRedemptions: related }];
  };
  // Each has its order.
  const messages = new Map(
    await mapInterleaved(redemptions, withRelated, { ...UNLIMITED, project: { id: projectId } }),
  );
  const byId = new Map(redemptions.map((one) => [one.id, one]));
  for (const one of rollbacks) {
    const redemption = byId.get(one.redemptionId);
    if (redemption !== undefined) {
      messages.set(one.id, rollbackEntryToProto(one, { redemption, voucher: voucherOf(one) }));
    }
  }
  return messages;
}

const isParent = ({ voucherId, tierId }: StoredRedemption): boolean =>
  voucherId === null && tierId === null;

async function vouchersOf(
  db: Queryable,
  projectId: string,
  redemptions: readonly StoredRedemption[],
): Promise<ReadonlyMap<string, StoredVoucher>> {
  const ids = new Set(redemptions.flatMap(({ voucherId }) => voucherId ?? []));
  if (ids.size === 0) return new Map();
  const found = await findVouchersById(
    db,
    [...ids].map((id) => ({ projectId, id })),
  );
  return new Map(found.map((one) => [rowKey(projectId, one.definition.id), one]));
}
