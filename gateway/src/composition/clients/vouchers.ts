import type { Transport } from "@connectrpc/connect";
import {
  type Voucher,
  VoucherService,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** Vouchers by code or id. */
export type Vouchers = {
  /** Throws `not_found` when no voucher has this code or id. */
  find(code: string, call: Call): Promise<FoundVoucher>;
};

export type FoundVoucher = Pick<
  Voucher,
  "id" | "code" | "campaignId" | "holderId" | "isReferralCode"
> & { readonly isLoyaltyCard: boolean };

export function createVouchersClient(transport: Transport): Vouchers {
  const client = clientOf(VoucherService, transport);
  return {
    async find(code, call) {
      const voucher = await client.getVoucher({ code }, { ...call, idempotency: undefined });
      return { ...voucher, isLoyaltyCard: voucher.type === VoucherType.LOYALTY_CARD };
    },
  };
}
