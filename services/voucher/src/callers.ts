import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { CandidateService } from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import { VoucherExportService } from "@scrip/proto/scrip/voucher/v1/exports_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Callers } from "@scrip/rpc";

/** What other services of Scrip may call here. The gateway may also call the public RPCs. */
export const CALLERS: Callers = {
  gateway: [PublicationService.method.summarizeHoldings],
  campaign: [
    CampaignVoucherService.method.countCodes,
    CampaignVoucherService.method.createVouchers,
    CampaignVoucherService.method.deleteVouchers,
    CampaignVoucherService.method.generateVouchers,
    CampaignVoucherService.method.summarizeCampaign,
    CampaignVoucherService.method.updateVouchers,
    VoucherImportService.method.importVouchers,
  ],
  validation: [
    CandidateService.method.listCandidates,
    RedemptionService.method.commitRedemptions,
    RedemptionService.method.commitRollbacks,
    RedemptionService.method.countRedemptions,
    RedemptionService.method.getRedemption,
    RedemptionService.method.loadVouchers,
    RedemptionService.method.releasePointsHolds,
    RedemptionService.method.reserveVouchers,
    VoucherService.method.listVouchers,
  ],
  export: [
    PublicationService.method.listVoucherPublications,
    PublicationService.method.summarizeHoldings,
    RedemptionService.method.getRedemption,
    TransactionService.method.listCardTransactions,
    TransactionService.method.resolveTransactionDetails,
    VoucherExportService.method.exportRows,
    VoucherImportService.method.countExistingCodes,
    VoucherImportService.method.importVouchers,
    VoucherImportService.method.updateVoucherMetadata,
    VoucherService.method.deleteVoucher,
    VoucherService.method.getVoucher,
  ],
};
