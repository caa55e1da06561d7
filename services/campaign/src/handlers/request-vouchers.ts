import { create, toBinary } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import type { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CreateCampaignVouchersRequestSchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import type { Handler } from "@scrip/rpc";

import { acquireCampaignLock } from "../campaign/campaign-lock.ts";
import { requireCapacity } from "../campaign/check-capacity.ts";
import { requestedVoucher } from "../campaign/requested-voucher.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import { resolveCategoryId } from "../category/resolve-category.ts";
import { type Deps, stepDeps } from "../deps.ts";
import { checkVoucherCreation } from "../domain/check-campaign.ts";
import { invalidCampaign } from "../domain/errors.ts";
import { addJob } from "../job/add-job.ts";
import { campaignJobToProto } from "../mapping/campaign-job.ts";
import { setStatuses } from "../store/campaign-jobs.ts";
import { releaseCampaignLock } from "../store/campaign-lock.ts";

export const requestVouchers =
  (deps: Deps): Handler<typeof CampaignJobService.method.requestVouchers> =>
  async ({ jobId: id, vouchers: request }, call) => {
    if (request === undefined) throw new Error("the contract requires vouchers");
    const { vouchersCount: total = 1n, code } = request;
    if (code !== undefined) {
      throw invalidPayload("Property .code requires .vouchers_count to be 1 or absent");
    }
    const projectId = call.project.id;
    const { campaign } = await requireCampaign(deps.db, projectId, request.campaignId);
    const violation = checkVoucherCreation(campaign);
    if (violation !== null) throw invalidCampaign(violation);
    const item = requestedVoucher(campaign, { request, call });
    await requireCapacity(deps, call, { campaign, item, count: total });
    const categoryId = await resolveCategoryId(deps, request, call);
    const { category: _, ...vouchers } = request;
    const own = create(CreateCampaignVouchersRequestSchema, { ...vouchers, categoryId });
    const campaignId = campaign.id;
    // An update that runs now does not see the job, which must read the updated campaign.
    const { lock, record } = await acquireCampaignLock(stepDeps(deps), call, campaignId);
    const creation = record.campaign.creationStatus;
    const job = await deps.db.transaction(async (tx) => {
      await setStatuses(tx, { projectId, campaignId }, { creation, generation: "IN_PROGRESS" });
      const stored = toBinary(CreateCampaignVouchersRequestSchema, own);
      const generation = { id, campaignId, type: "GENERATE", total, request: stored } as const;
      const added = await addJob(tx, { deps, call }, generation);
      await releaseCampaignLock(tx, lock, { status: creation, createdVouchers: 0 });
      return added;
    });
    deps.onEvents();
    return campaignJobToProto(job);
  };
