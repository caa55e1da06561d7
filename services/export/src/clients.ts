import type { Transport } from "@connectrpc/connect";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Client, clientOf } from "@scrip/rpc";

/** The services that export calls. */
export type Transports = Readonly<
  Record<"validation" | "campaign" | "voucher" | "loyalty", Transport>
>;

/** Clients of the services that export calls. */
export type Clients = {
  readonly vouchers: Client<typeof VoucherService>;
  readonly redemptions: Client<typeof RedemptionService>;
};

export const createClients = ({ voucher }: Transports): Clients => ({
  vouchers: clientOf(VoucherService, voucher),
  redemptions: clientOf(RedemptionService, voucher),
});
