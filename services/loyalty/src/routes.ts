import { keyedHandlers } from "@scrip/idempotency";
import { ActivityService } from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { CustomerImportService } from "@scrip/proto/scrip/loyalty/v1/customer_imports_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { LoyaltyExportService } from "@scrip/proto/scrip/loyalty/v1/exports_pb";
import { JobService } from "@scrip/proto/scrip/loyalty/v1/jobs_pb";
import { LiabilityService } from "@scrip/proto/scrip/loyalty/v1/liability_pb";
import { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { RESOURCE_CHANGES } from "./events/resource-changes.ts";
import { activatePendingPoints } from "./handlers/activate-pending-points.ts";
import { adjustPendingPoints } from "./handlers/adjust-pending-points.ts";
import { adjustPoints } from "./handlers/adjust-points.ts";
import { assignValidationRule } from "./handlers/assign-validation-rule.ts";
import { cancelPendingPoints } from "./handlers/cancel-pending-points.ts";
import { createCustomEventSchema } from "./handlers/create-custom-event-schema.ts";
import { createCustomEvent } from "./handlers/create-custom-event.ts";
import { createCustomer } from "./handlers/create-customer.ts";
import { createEarningRules } from "./handlers/create-earning-rules.ts";
import { createLoyaltyRewards } from "./handlers/create-loyalty-rewards.ts";
import { createLoyaltyTiers } from "./handlers/create-loyalty-tiers.ts";
import { createRewardAssignment } from "./handlers/create-reward-assignment.ts";
import { createReward } from "./handlers/create-reward.ts";
import { createSegment } from "./handlers/create-segment.ts";
import { deleteCustomEventSchema } from "./handlers/delete-custom-event-schema.ts";
import { deleteCustomerPermanently } from "./handlers/delete-customer-permanently.ts";
import { deleteCustomer } from "./handlers/delete-customer.ts";
import { deleteEarningRule } from "./handlers/delete-earning-rule.ts";
import { deleteLoyaltyReward } from "./handlers/delete-loyalty-reward.ts";
import { deleteLoyaltyTier } from "./handlers/delete-loyalty-tier.ts";
import { deleteRewardAssignment } from "./handlers/delete-reward-assignment.ts";
import { deleteReward } from "./handlers/delete-reward.ts";
import { deleteSegment } from "./handlers/delete-segment.ts";
import { disableEarningRule } from "./handlers/disable-earning-rule.ts";
import { enableEarningRule } from "./handlers/enable-earning-rule.ts";
import { estimateEarnings } from "./handlers/estimate-earnings.ts";
import { exportRows } from "./handlers/export-rows.ts";
import { followSegment } from "./handlers/follow-segment.ts";
import { getCardBalances } from "./handlers/get-card-balances.ts";
import { getCustomEventSchema } from "./handlers/get-custom-event-schema.ts";
import { getCustomer } from "./handlers/get-customer.ts";
import { getEarningRule } from "./handlers/get-earning-rule.ts";
import { getLiability } from "./handlers/get-liability.ts";
import { getLoyaltyAssignmentReward } from "./handlers/get-loyalty-assignment-reward.ts";
import { getLoyaltyReward } from "./handlers/get-loyalty-reward.ts";
import { getLoyaltyTier } from "./handlers/get-loyalty-tier.ts";
import { getRewardAssignment } from "./handlers/get-reward-assignment.ts";
import { getReward } from "./handlers/get-reward.ts";
import { getSegment } from "./handlers/get-segment.ts";
import { hasChangedCards } from "./handlers/has-changed-cards.ts";
import { holdPoints } from "./handlers/hold-points.ts";
import { importCustomers } from "./handlers/import-customers.ts";
import { listCustomEventSchemas } from "./handlers/list-custom-event-schemas.ts";
import { listCustomerActivities } from "./handlers/list-customer-activities.ts";
import { listCustomerSegments } from "./handlers/list-customer-segments.ts";
import { listCustomers } from "./handlers/list-customers.ts";
import { listEarningRules } from "./handlers/list-earning-rules.ts";
import { listLedgerEntries } from "./handlers/list-ledger-entries.ts";
import { listLoyaltyRewards } from "./handlers/list-loyalty-rewards.ts";
import { listLoyaltyTiers } from "./handlers/list-loyalty-tiers.ts";
import { listMemberActivities } from "./handlers/list-member-activities.ts";
import { listMemberPendingPoints } from "./handlers/list-member-pending-points.ts";
import { listMemberRewards } from "./handlers/list-member-rewards.ts";
import { listMemberTiers } from "./handlers/list-member-tiers.ts";
import { listPendingPointsHolds } from "./handlers/list-pending-points-holds.ts";
import { listPendingPoints } from "./handlers/list-pending-points.ts";
import { listPointsLots } from "./handlers/list-points-lots.ts";
import { listReferences } from "./handlers/list-references.ts";
import { listRewardAssignments } from "./handlers/list-reward-assignments.ts";
import { listRewards } from "./handlers/list-rewards.ts";
import { listSegments } from "./handlers/list-segments.ts";
import { listTierEarningRules } from "./handlers/list-tier-earning-rules.ts";
import { listTierRewards } from "./handlers/list-tier-rewards.ts";
import { listValidationRuleAssignments } from "./handlers/list-validation-rule-assignments.ts";
import { loadCards } from "./handlers/load-cards.ts";
import { openCardSnapshot } from "./handlers/open-card-snapshot.ts";
import { refundPoints } from "./handlers/refund-points.ts";
import { releasePoints } from "./handlers/release-points.ts";
import { reservePoints } from "./handlers/reserve-points.ts";
import { resolveCustomers } from "./handlers/resolve-customers.ts";
import { resolvePointsHolds } from "./handlers/resolve-points-holds.ts";
import { resolveRewardAssignments } from "./handlers/resolve-reward-assignments.ts";
import { runDueJobs } from "./handlers/run-due-jobs.ts";
import { summarizeLedger } from "./handlers/summarize-ledger.ts";
import { transferPoints } from "./handlers/transfer-points.ts";
import { unassignValidationRule } from "./handlers/unassign-validation-rule.ts";
import { updateCustomEventSchema } from "./handlers/update-custom-event-schema.ts";
import { updateCustomer } from "./handlers/update-customer.ts";
import { updateEarningRule } from "./handlers/update-earning-rule.ts";
import { updateLoyaltyReward } from "./handlers/update-loyalty-reward.ts";
import { updateLoyaltyTier } from "./handlers/update-loyalty-tier.ts";
import { updateRewardAssignment } from "./handlers/update-reward-assignment.ts";
import { updateReward } from "./handlers/update-reward.ts";

const earningRules = {
  createEarningRules,
  listEarningRules,
  getEarningRule,
  updateEarningRule,
  deleteEarningRule,
  enableEarningRule,
  disableEarningRule,
  estimateEarnings,
  listReferences,
  assignValidationRule,
  unassignValidationRule,
  listValidationRuleAssignments,
};

const loyaltyTiers = {
  createLoyaltyTiers,
  listLoyaltyTiers,
  getLoyaltyTier,
  updateLoyaltyTier,
  deleteLoyaltyTier,
  listTierEarningRules,
  listTierRewards,
  listMemberTiers,
};

const cardHandlers = {
  adjustPoints,
  transferPoints,
  listPointsLots,
  summarizeLedger,
  loadCards,
  listLedgerEntries,
  listPendingPointsHolds,
  getCardBalances,
  hasChangedCards,
  openCardSnapshot,
  refundPoints,
  releasePoints,
  reservePoints,
  resolvePointsHolds,
  holdPoints,
};

const pendingPoints = {
  listPendingPoints,
  listMemberPendingPoints,
  adjustPendingPoints,
  activatePendingPoints,
  cancelPendingPoints,
};

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest, RESOURCE_CHANGES);
  return [
    implement(CustomerService, {
      createCustomer,
      listCustomers,
      getCustomer,
      updateCustomer,
      deleteCustomer,
      deleteCustomerPermanently,
      resolveCustomers,
    }),
    implement(CustomEventService, {
      createCustomEvent,
      createCustomEventSchema,
      listCustomEventSchemas,
      getCustomEventSchema,
      updateCustomEventSchema,
      deleteCustomEventSchema,
    }),
    implement(CustomerImportService, { importCustomers }, { importCustomers: "transaction" }),
    implement(SegmentService, {
      createSegment,
      listSegments,
      getSegment,
      deleteSegment,
      listCustomerSegments,
      followSegment,
    }),
    implement(EarningRuleService, earningRules, { assignValidationRule: "transaction" }),
    implement(PendingPointsService, pendingPoints),
    implement(LiabilityService, { getLiability }),
    implement(LoyaltyTierService, loyaltyTiers),
    implement(RewardService, {
      createRewardAssignment,
      createReward,
      createLoyaltyRewards,
      listMemberRewards,
      deleteLoyaltyReward,
      deleteRewardAssignment,
      deleteReward,
      resolveRewardAssignments,
      getLoyaltyAssignmentReward,
      getLoyaltyReward,
      getRewardAssignment,
      getReward,
      listLoyaltyRewards,
      listRewardAssignments,
      listRewards,
      updateLoyaltyReward,
      updateRewardAssignment,
      updateReward,
    }),
    implement(ActivityService, { listCustomerActivities, listMemberActivities }),
    implement(LoyaltyExportService, { exportRows }),
    implement(CardService, cardHandlers),
    implement(JobService, { runDueJobs }),
  ];
};
