import { instantToProto } from "@scrip/mapping";
import type { VoucherResult } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/**
 * Loads vouchers by code or id, what sessions of other callers lock of them, and the stored outcome
 * of the idempotency key.
 */
export async function loadVouchers(
  deps: Pick<Deps, "clients">,
  call: Call,
  { codes, sessionKey }: { readonly codes: string[]; readonly sessionKey?: string | undefined },
): Promise<VoucherResult> {
  if (codes.length === 0 && call.idempotency === undefined) return NO_VOUCHERS;
  return deps.clients.loadVouchers(
    {
      $typeName: "scrip.voucher.v1.VoucherQuery",
      projectId: call.project.id,
      codes,
      now: instantToProto(call.now),
      ...(sessionKey !== undefined && { sessionKey }),
      ...(call.idempotency !== undefined && {
        idempotency: { $typeName: "scrip.voucher.v1.IdempotencyKey", ...call.idempotency },
      }),
    },
    call,
  );
}

const NO_VOUCHERS: VoucherResult = { $typeName: "scrip.voucher.v1.VoucherResult", vouchers: [] };
