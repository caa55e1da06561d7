import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { withCurrentBalance } from "../loading/card-balances.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { editVoucher } from "./edit-voucher.ts";

/** Enables or disables a voucher; one that already has the state is not written. */
export async function setActive(
  deps: Deps,
  { code, active, call }: { readonly code: string; readonly active: boolean; readonly call: Call },
): Promise<Voucher> {
  const voucher = await editVoucher(deps, code, {
    projectId: call.project.id,
    edit: ({ definition, usage }) =>
      definition.active === active
        ? undefined
        : {
            definition: { ...definition, active, updatedAt: call.now },
            quantity: usage.quantity,
          },
  });
  return withCurrentBalance(deps, voucherToProto(voucher), call);
}
