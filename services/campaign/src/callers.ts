import { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import type { Callers } from "@scrip/rpc";

/** What other services of Scrip may call here. The gateway may also call the public RPCs. */
export const CALLERS: Callers = {
  gateway: [
    CampaignService.method.createVoucher,
    CampaignService.method.resolveCampaigns,
    CategoryService.method.resolveCategories,
    ReferralTierService.method.listTiersNamingSegment,
  ],
  validation: [
    CampaignService.method.listCampaigns,
    CampaignService.method.resolveCampaigns,
    CategoryService.method.resolveCategories,
  ],
  export: [
    CampaignImportService.method.beginImport,
    CampaignImportService.method.endImport,
    CampaignImportService.method.importCampaignVouchers,
    CampaignJobService.method.continueJob,
    CampaignJobService.method.failJob,
    CampaignJobService.method.requestDeletion,
    CampaignJobService.method.requestPurge,
    CampaignJobService.method.requestVouchers,
    CampaignService.method.getCampaign,
    CampaignService.method.resolveCampaigns,
    CategoryService.method.resolveCategories,
    TrashBinService.method.getBinEntry,
    TrashBinService.method.removeBinEntry,
  ],
};
