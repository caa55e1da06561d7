import { notFound } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { changesCard } from "../domain/loyalty-card.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import { loyaltyCardChanged } from "../events/loyalty-card-changed.ts";
import { loadBalancesOf } from "../loading/card-balances.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { lockUsages } from "../store/usages.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { updateVoucher } from "../store/voucher-writes.ts";
import { findVoucher } from "../store/vouchers.ts";

export type VoucherEdit = {
  readonly definition: VoucherDefinition;
  readonly quantity: bigint | null;
};

/** Returns the changed voucher; undefined changes nothing. */
type Edit = (voucher: StoredVoucher) => VoucherEdit | undefined;

/**
 * Edits a voucher and returns it with its balance, which edits do not change. The balance is loaded first: the lock lasts
 * until the transaction of the request ends, and redemptions must not wait for a call.
 */
export async function editWithBalance(
  deps: Deps,
  { code, call, edit }: { readonly code: string; readonly call: Call; readonly edit: Edit },
): Promise<Voucher> {
  const projectId = call.project.id;
  const found = await findVoucher(deps.db, projectId, code);
  if (found === undefined) throw notFound("voucher", code);
  const withBalance = await loadBalancesOf(deps, [voucherToProto(found)], call);
  return withBalance(voucherToProto(await editVoucher(deps, code, { call, edit })));
}

/**
 * Edits a voucher under the lock that redemptions take, so that neither sees the other half done. Changes
 * nothing when `edit` returns undefined.
 */
export async function editVoucher(
  deps: Deps,
  code: string,
  { call, edit: editOf }: { readonly call: Call; readonly edit: Edit },
): Promise<StoredVoucher> {
  return deps.db.transaction(async (tx) => {
    const voucher = await lockVoucher(tx, call.project.id, code);
    const edit = editOf(voucher);
    if (edit === undefined) return voucher;
    const definition = { ...edit.definition, version: voucher.usage.definitionVersion + 1n };
    await updateVoucher(tx, definition, edit.quantity);
    if (changesCard(voucher.definition, definition)) {
      const at = definition.updatedAt ?? definition.createdAt;
      await enqueue(tx, [loyaltyCardChanged(deps.newId("event"), definition, at)], call);
    }
    return {
      definition,
      usage: {
        ...voucher.usage,
        definitionVersion: definition.version,
        quantity: edit.quantity,
        version: voucher.usage.version + 1n,
      },
    };
  });
}

/** Finds and locks a voucher, and reads it again because it may have changed while waiting for the lock. */
export async function lockVoucher(
  tx: Queryable,
  projectId: string,
  code: string,
): Promise<StoredVoucher> {
  const found = await findVoucher(tx, projectId, code);
  if (found === undefined) throw notFound("voucher", code);
  await lockUsages(tx, [{ projectId, voucherId: found.definition.id }]);
  const locked = await findVoucher(tx, projectId, found.definition.code);
  if (locked?.definition.id !== found.definition.id) throw notFound("voucher", code);
  return locked;
}
