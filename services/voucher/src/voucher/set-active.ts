import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { editWithBalance, type VoucherEdit } from "./edit-voucher.ts";

/** Enables or disables a voucher. */
export const setActive = (
  deps: Deps,
  { code, active, call }: { readonly code: string; readonly active: boolean; readonly call: Call },
): Promise<Voucher> =>
  editWithBalance(deps, { code, call, edit: (voucher) => editActive(voucher, active, call.now) });

/** Undefined, so that nothing is written, when the voucher already has the state. */
export const editActive = (
  { definition, usage }: StoredVoucher,
  active: boolean,
  now: number,
): VoucherEdit | undefined =>
  definition.active === active
    ? undefined
    : { definition: { ...definition, active, updatedAt: now }, quantity: usage.quantity };
