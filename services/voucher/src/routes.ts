import { keyedHandlers } from "@scrip/idempotency";
import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { CandidateService } from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import { VoucherExportService } from "@scrip/proto/scrip/voucher/v1/exports_pb";
import { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { RESOURCE_CHANGES } from "./events/resource-changes.ts";
import { adjustBalance } from "./handlers/adjust-balance.ts";
import { adjustMemberBalance } from "./handlers/adjust-member-balance.ts";
import { commitRedemptions } from "./handlers/commit-redemptions.ts";
import { commitRollbacks } from "./handlers/commit-rollbacks.ts";
import { completeReward } from "./handlers/complete-reward.ts";
import { countCodes } from "./handlers/count-codes.ts";
import { countExistingCodes } from "./handlers/count-existing-codes.ts";
import { countRedemptions } from "./handlers/count-redemptions.ts";
import { createHolders } from "./handlers/create-holders.ts";
import { createMember } from "./handlers/create-member.ts";
import { createPublication } from "./handlers/create-publication.ts";
import { createVoucher } from "./handlers/create-voucher.ts";
import { createVouchers } from "./handlers/create-vouchers.ts";
import { deleteHolder } from "./handlers/delete-holder.ts";
import { deleteVoucher } from "./handlers/delete-voucher.ts";
import { deleteVouchers } from "./handlers/delete-vouchers.ts";
import { disableVoucher } from "./handlers/disable-voucher.ts";
import { enableVoucher } from "./handlers/enable-voucher.ts";
import { exportRows } from "./handlers/export-rows.ts";
import { generateVouchers } from "./handlers/generate-vouchers.ts";
import { getBarcode } from "./handlers/get-barcode.ts";
import { getExplanation } from "./handlers/get-explanation.ts";
import { getMember } from "./handlers/get-member.ts";
import { getQr } from "./handlers/get-qr.ts";
import { getRedemption } from "./handlers/get-redemption.ts";
import { getVoucher } from "./handlers/get-voucher.ts";
import { importVouchers } from "./handlers/import-vouchers.ts";
import { listCampaignTransactions } from "./handlers/list-campaign-transactions.ts";
import { listCandidates } from "./handlers/list-candidates.ts";
import { listCardTransactions } from "./handlers/list-card-transactions.ts";
import { listCustomerRedeemables } from "./handlers/list-customer-redeemables.ts";
import { listHolders } from "./handlers/list-holders.ts";
import { listMemberTransactions } from "./handlers/list-member-transactions.ts";
import { listMembers } from "./handlers/list-members.ts";
import { listPointsExpiration } from "./handlers/list-points-expiration.ts";
import { listProgramTransactions } from "./handlers/list-program-transactions.ts";
import { listPublications } from "./handlers/list-publications.ts";
import { listRedemptions } from "./handlers/list-redemptions.ts";
import { listVoucherPublications } from "./handlers/list-voucher-publications.ts";
import { listVoucherRedemptions } from "./handlers/list-voucher-redemptions.ts";
import { listVouchers } from "./handlers/list-vouchers.ts";
import { loadVouchers } from "./handlers/load-vouchers.ts";
import { releasePointsHolds } from "./handlers/release-points-holds.ts";
import { releaseSession } from "./handlers/release-session.ts";
import { reserveVouchers } from "./handlers/reserve-vouchers.ts";
import { resolveTransactionDetails } from "./handlers/resolve-transaction-details.ts";
import { summarizeCampaign } from "./handlers/summarize-campaign.ts";
import { summarizeHoldings } from "./handlers/summarize-holdings.ts";
import { transferMemberPoints } from "./handlers/transfer-member-points.ts";
import { updateVoucherMetadata } from "./handlers/update-voucher-metadata.ts";
import { updateVoucher } from "./handlers/update-voucher.ts";
import { updateVouchers } from "./handlers/update-vouchers.ts";

const voucherHandlers = {
  createVoucher,
  getVoucher,
  updateVoucher,
  deleteVoucher,
  listVouchers,
  enableVoucher,
  disableVoucher,
  getQr,
  getBarcode,
};

const memberHandlers = {
  listMembers,
  getMember,
  adjustMemberBalance,
  transferMemberPoints,
  listPointsExpiration,
  listProgramTransactions,
};

const redemptionHandlers = {
  getRedemption,
  listVoucherRedemptions,
  listRedemptions,
  completeReward,
  getExplanation,
  releaseSession,
  loadVouchers,
  commitRedemptions,
  countRedemptions,
  reserveVouchers,
  commitRollbacks,
  releasePointsHolds,
};

/** All RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest, RESOURCE_CHANGES);
  return [
    implement(VoucherService, voucherHandlers),
    implement(
      CampaignVoucherService,
      {
        createVouchers,
        generateVouchers,
        countCodes,
        updateVouchers,
        deleteVouchers,
        summarizeCampaign,
      },
      {
        createVouchers: "transaction",
        generateVouchers: "transaction",
        updateVouchers: "transaction",
        deleteVouchers: "transaction",
      },
    ),
    implement(
      VoucherImportService,
      { importVouchers, updateVoucherMetadata, countExistingCodes },
      { importVouchers: "transaction", updateVoucherMetadata: "transaction" },
    ),
    implement(PublicationService, {
      createPublication,
      createMember,
      listPublications,
      listVoucherPublications,
      listCustomerRedeemables,
      summarizeHoldings,
    }),
    implement(ReferralService, { createHolders, listHolders, deleteHolder }),
    implement(
      TransactionService,
      {
        adjustBalance,
        listCardTransactions,
        listCampaignTransactions,
        listMemberTransactions,
        resolveTransactionDetails,
      },
      { adjustBalance: "steps" },
    ),
    implement(MemberService, memberHandlers, {
      adjustMemberBalance: "repeatable",
      transferMemberPoints: "repeatable",
    }),
    implement(CandidateService, { listCandidates }),
    implement(VoucherExportService, { exportRows }),
    implement(RedemptionService, redemptionHandlers),
  ];
};
