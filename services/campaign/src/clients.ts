import type { Transport } from "@connectrpc/connect";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { type Client, clientOf } from "@scrip/rpc";

export type Transports = { readonly voucher: Transport };

/** Clients of the services that campaign calls. */
export type Clients = {
  readonly vouchers: Client<typeof CampaignVoucherService>;
  readonly imports: Client<typeof VoucherImportService>;
};

export const createClients = ({ voucher }: Transports): Clients => ({
  vouchers: clientOf(CampaignVoucherService, voucher),
  imports: clientOf(VoucherImportService, voucher),
});
