import { keyedHandlers } from "@scrip/idempotency";
import { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { LoyaltyProgramService } from "@scrip/proto/scrip/campaign/v1/loyalty_programs_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { RESOURCE_CHANGES } from "./events/resource-changes.ts";
import { beginImport } from "./handlers/begin-import.ts";
import { continueJob } from "./handlers/continue-job.ts";
import { createCampaignVouchers } from "./handlers/create-campaign-vouchers.ts";
import { createCampaign } from "./handlers/create-campaign.ts";
import { createCategory } from "./handlers/create-category.ts";
import { createPromotionStack } from "./handlers/create-promotion-stack.ts";
import { createPromotionTier } from "./handlers/create-promotion-tier.ts";
import { createReferralTier } from "./handlers/create-referral-tier.ts";
import { createVoucher } from "./handlers/create-voucher.ts";
import { deleteCategory } from "./handlers/delete-category.ts";
import { deletePromotionStack } from "./handlers/delete-promotion-stack.ts";
import { deletePromotionTier } from "./handlers/delete-promotion-tier.ts";
import { deleteReferralTier } from "./handlers/delete-referral-tier.ts";
import { disableCampaign } from "./handlers/disable-campaign.ts";
import { disablePromotionTier } from "./handlers/disable-promotion-tier.ts";
import { disableReferralTier } from "./handlers/disable-referral-tier.ts";
import { enableCampaign } from "./handlers/enable-campaign.ts";
import { enablePromotionTier } from "./handlers/enable-promotion-tier.ts";
import { enableReferralTier } from "./handlers/enable-referral-tier.ts";
import { endImport } from "./handlers/end-import.ts";
import { failJob } from "./handlers/fail-job.ts";
import { getBinEntry } from "./handlers/get-bin-entry.ts";
import { getCampaignSummary } from "./handlers/get-campaign-summary.ts";
import { getCampaign } from "./handlers/get-campaign.ts";
import { getCategory } from "./handlers/get-category.ts";
import { getPromotionStack } from "./handlers/get-promotion-stack.ts";
import { getPromotionTier } from "./handlers/get-promotion-tier.ts";
import { importCampaignVouchers } from "./handlers/import-campaign-vouchers.ts";
import { listBinEntries } from "./handlers/list-bin-entries.ts";
import { listCampaignStacks } from "./handlers/list-campaign-stacks.ts";
import { listCampaignTiers } from "./handlers/list-campaign-tiers.ts";
import { listCampaigns } from "./handlers/list-campaigns.ts";
import { listCategories } from "./handlers/list-categories.ts";
import { listPromotionStacks } from "./handlers/list-promotion-stacks.ts";
import { listPromotionTiers } from "./handlers/list-promotion-tiers.ts";
import { listReferralTiers } from "./handlers/list-referral-tiers.ts";
import { listTiersNamingSegment } from "./handlers/list-tiers-naming-segment.ts";
import { removeBinEntry } from "./handlers/remove-bin-entry.ts";
import { requestDeletion } from "./handlers/request-deletion.ts";
import { requestPurge } from "./handlers/request-purge.ts";
import { requestVouchers } from "./handlers/request-vouchers.ts";
import { resolveCampaigns } from "./handlers/resolve-campaigns.ts";
import { resolveCategories } from "./handlers/resolve-categories.ts";
import { updateCampaign } from "./handlers/update-campaign.ts";
import { updateCategory } from "./handlers/update-category.ts";
import { updatePromotionStack } from "./handlers/update-promotion-stack.ts";
import { updatePromotionTier } from "./handlers/update-promotion-tier.ts";
import { updateReferralTier } from "./handlers/update-referral-tier.ts";
import { loyaltyPrograms } from "./loyalty-programs.ts";

const categories = {
  createCategory,
  listCategories,
  getCategory,
  updateCategory,
  deleteCategory,
  resolveCategories,
};

const referralTiers = {
  createReferralTier,
  listReferralTiers,
  updateReferralTier,
  deleteReferralTier,
  enableReferralTier,
  disableReferralTier,
  listTiersNamingSegment,
};

/** The RPCs of this service. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest, RESOURCE_CHANGES);
  return [
    implement(
      CampaignService,
      {
        createCampaign,
        listCampaigns,
        getCampaign,
        getCampaignSummary,
        updateCampaign,
        enableCampaign,
        disableCampaign,
        createCampaignVouchers,
        createVoucher,
        resolveCampaigns,
      },
      {
        createCampaign: "steps",
        updateCampaign: "steps",
        createCampaignVouchers: "steps",
        createVoucher: "steps",
      },
    ),
    implement(LoyaltyProgramService, loyaltyPrograms, {
      createCampaign: "steps",
      updateCampaign: "steps",
    }),
    implement(
      CampaignImportService,
      { importCampaignVouchers, beginImport, endImport },
      { importCampaignVouchers: "steps" },
    ),
    implement(
      CampaignJobService,
      { requestVouchers, requestDeletion, requestPurge, continueJob, failJob },
      { requestVouchers: "steps" },
    ),
    implement(TrashBinService, { listBinEntries, getBinEntry, removeBinEntry }),
    implement(PromotionService, {
      createPromotionTier,
      listCampaignTiers,
      listPromotionTiers,
      getPromotionTier,
      updatePromotionTier,
      deletePromotionTier,
      enablePromotionTier,
      disablePromotionTier,
      createPromotionStack,
      listCampaignStacks,
      listPromotionStacks,
      getPromotionStack,
      updatePromotionStack,
      deletePromotionStack,
    }),
    implement(ReferralTierService, referralTiers),
    implement(CategoryService, categories),
  ];
};
