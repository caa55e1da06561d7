import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { create, fromBinary } from "@bufbuild/protobuf";
import { currentTime } from "@scrip/clock";
import { toErrorResponse } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import {
  CreateCampaignVouchersRequestSchema,
  UpdateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CampaignChanged_Change } from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";

import { requestedVoucher } from "../campaign/requested-voucher.ts";
import { requireCampaign } from "../campaign/require-campaign.ts";
import type { Deps } from "../deps.ts";
import { type CampaignJob, statusesAfterJob } from "../domain/campaign-job.ts";
import { campaignChanged } from "../events/campaign-events.ts";
import { inheritFromCampaign, voucherCampaignToProto } from "../mapping/campaign-voucher.ts";
import { voucherUpdateToProto } from "../mapping/voucher-update.ts";
import { deleteBinEntriesOf } from "../store/bin-entries.ts";
import {
  addToVouchersCount,
  type Advance,
  advanceJob,
  findJob,
  findPending,
  lockStatus,
  setStatuses,
} from "../store/campaign-jobs.ts";
import { deleteCampaign } from "../store/campaigns.ts";

/**
 * Vouchers of one slice of an update or a deletion: many enough to be fast, few enough to hold locks and the processor for a
 * short time.
 */
export const SLICE = 2_000;

/**
 * Codes of one slice of a generation, which writes more per voucher than an update or a deletion. Redemptions wait while
 * PostgreSQL flushes what a slice has written to its log (decision 85).
 */
const GENERATED_SLICE = 500n;

/**
 * Carries out the next slice of a pending job, and returns the job after it. Repeatable: the voucher service stores the
 * slice under a key made of the job and its position, and the job moves on from that position once.
 */
export async function runSlice(deps: Deps, call: Call, job: CampaignJob): Promise<CampaignJob> {
  const projectId = call.project.id;
  const advance = await attemptSlice(deps, call, job);
  await deps.db.transaction(async (tx) => {
    if (!(await advanceJob(tx, projectId, { job, ...advance }))) return;
    const { campaignId } = job;
    if (job.type === "GENERATE")
      await addToVouchersCount(tx, { projectId, campaignId }, advance.by);
    if (advance.status === "DONE") await finish(tx, deps, { job, call });
  });
  deps.onEvents();
  return (await findJob(deps.db, projectId, job.id)) ?? job;
}

const POLL_MS = 50;
/** Waiting stops when less than this is left before the deadline of the call. */
const MIN_REMAINING_MS = 2_000;

/**
 * A slice of a small job is carried out by its request and, concurrently, by its async action. The second attempt is
 * repeated until the first has ended, whose response it gets then.
 */
async function attemptSlice(deps: Deps, call: Call, job: CampaignJob): Promise<Advance> {
  for (;;) {
    try {
      return await SLICES[job.type](deps, call, job);
    } catch (error) {
      const isRunning = toErrorResponse(error, call.requestId).error.key === IN_PROGRESS;
      if (!isRunning || call.deadline - currentTime() < MIN_REMAINING_MS) throw error;
    }
    await sleep(POLL_MS);
  }
}

const IN_PROGRESS = "idempotency_in_progress";

type RunSlice = (deps: Deps, call: Call, job: CampaignJob) => Promise<Advance>;

const SLICES: Readonly<Record<CampaignJob["type"], RunSlice>> = {
  GENERATE: generate,
  UPDATE: update,
  DELETE: remove,
};

async function generate(deps: Deps, call: Call, job: CampaignJob): Promise<Advance> {
  const { campaign } = await requireCampaign(deps.db, call.project.id, job.campaignId);
  const left = job.total - job.done;
  const count = left < GENERATED_SLICE ? left : GENERATED_SLICE;
  const item =
    job.request === null
      ? inheritFromCampaign(campaign)
      : requestedVoucher(campaign, {
          request: fromBinary(CreateCampaignVouchersRequestSchema, job.request),
          call,
        });
  // A repeated slice has as many codes as the process requested that began it, which may have slices of another size.
  const { generatedCount: by } = await deps.vouchers.generateVouchers(
    { campaign: voucherCampaignToProto(campaign), item, count },
    sliceCall(call, job),
  );
  return { by, position: "", status: by === left ? "DONE" : "PENDING" };
}

/** Applies the current values of the campaign: of several updates that wait, the last one wins. */
async function update(deps: Deps, call: Call, job: CampaignJob): Promise<Advance> {
  const { campaign } = await requireCampaign(deps.db, call.project.id, job.campaignId);
  const request =
    job.request === null
      ? create(UpdateCampaignRequestSchema)
      : fromBinary(UpdateCampaignRequestSchema, job.request);
  const change = voucherUpdateToProto(campaign, request, new Set(request.updateMask?.paths));
  if (change === undefined) return { by: 0n, position: "", status: "DONE" };
  const { updatedCount, lastVoucherId } = await deps.vouchers.updateVouchers(
    { ...change, afterVoucherId: job.position, limit: BigInt(SLICE) },
    sliceCall(call, job),
  );
  return advanceTo(lastVoucherId, updatedCount);
}

async function remove(deps: Deps, call: Call, job: CampaignJob): Promise<Advance> {
  const { campaignId, position: afterVoucherId, permanent: purge } = job;
  const { deletedCount, lastVoucherId } = await deps.vouchers.deleteVouchers(
    { campaignId, afterVoucherId, limit: BigInt(SLICE), purge },
    sliceCall(call, job),
  );
  return advanceTo(lastVoucherId, deletedCount);
}

const advanceTo = (position: string, by: bigint): Advance => ({
  by,
  position,
  status: position === "" ? "DONE" : "PENDING",
});

/** All attempts of a slice have the same key, in any process. */
function sliceCall(call: Call, { id, done, position }: CampaignJob): Call {
  const key = `${id}>${done}>${position}`;
  const requestHash = createHash("sha256").update(key).digest();
  return { ...call, idempotency: { key, requestHash } };
}

async function finish(
  tx: Queryable,
  deps: Deps,
  { job, call }: { readonly job: CampaignJob; readonly call: Call },
): Promise<void> {
  const projectId = call.project.id;
  const { campaignId } = job;
  if (job.type === "DELETE") {
    if (!job.permanent) return;
    await deleteBinEntriesOf(tx, projectId, [campaignId]);
    await deleteCampaign(tx, projectId, campaignId);
    return;
  }
  const before = await lockStatus(tx, projectId, campaignId);
  if (before === undefined) return;
  const { next } = await findPending(tx, projectId, campaignId);
  const statuses = statusesAfterJob(before.creation, { ended: job.type, next });
  await setStatuses(tx, { projectId, campaignId }, statuses);
  if (job.type === "UPDATE") return;
  const change = CampaignChanged_Change.VOUCHERS_GENERATED;
  const campaign = { id: campaignId, name: before.name };
  const event = campaignChanged(deps.newId("event"), campaign, { call, change, jobId: job.id });
  await enqueue(tx, [event], call);
}
