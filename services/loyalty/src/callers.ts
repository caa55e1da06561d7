import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomerImportService } from "@scrip/proto/scrip/loyalty/v1/customer_imports_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { LoyaltyExportService } from "@scrip/proto/scrip/loyalty/v1/exports_pb";
import { JobService } from "@scrip/proto/scrip/loyalty/v1/jobs_pb";
import { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Callers } from "@scrip/rpc";

/** What other services of Scrip may call here. The gateway may also call the public RPCs. */
export const CALLERS: Callers = {
  gateway: [
    EarningRuleService.method.assignValidationRule,
    EarningRuleService.method.unassignValidationRule,
    JobService.method.runDueJobs,
    SegmentService.method.followSegment,
  ],
  voucher: [
    CardService.method.adjustPoints,
    CardService.method.getCardBalances,
    CardService.method.listLedgerEntries,
    CardService.method.listPendingPointsHolds,
    CardService.method.listPointsLots,
    CardService.method.refundPoints,
    CardService.method.releasePoints,
    CardService.method.resolvePointsHolds,
    CardService.method.summarizeLedger,
    CardService.method.transferPoints,
    CustomerService.method.resolveCustomers,
  ],
  validation: [
    CardService.method.holdPoints,
    CardService.method.loadCards,
    CardService.method.releasePoints,
    CardService.method.reservePoints,
    CustomerService.method.resolveCustomers,
    EarningRuleService.method.estimateEarnings,
    EarningRuleService.method.listReferences,
    EarningRuleService.method.listValidationRuleAssignments,
    RewardService.method.resolveRewardAssignments,
    SegmentService.method.listSegments,
  ],
  export: [
    CardService.method.getCardBalances,
    CardService.method.hasChangedCards,
    CardService.method.openCardSnapshot,
    CustomerImportService.method.importCustomers,
    CustomerService.method.getCustomer,
    CustomerService.method.resolveCustomers,
    LoyaltyExportService.method.exportRows,
  ],
};
