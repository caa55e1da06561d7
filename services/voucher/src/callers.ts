import type { Callers } from "@scrip/rpc";

/** Who of Scrip's services may call the RPCs of each group, besides the public ones, which the gateway may call. */
export const CALLERS: Callers = {
  "scrip.voucher.v1.CampaignVoucherService": ["campaign"],
  "scrip.voucher.v1.CandidateService": ["validation"],
  "scrip.voucher.v1.PublicationService": ["gateway", "export"],
  "scrip.voucher.v1.RedemptionService": ["validation", "export"],
  "scrip.voucher.v1.TransactionService": ["export"],
  "scrip.voucher.v1.VoucherExportService": ["export"],
  "scrip.voucher.v1.VoucherImportService": ["campaign", "export"],
  "scrip.voucher.v1.VoucherService": ["validation", "export"],
};
