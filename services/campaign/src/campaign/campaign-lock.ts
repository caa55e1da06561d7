import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type CampaignLock, tryAcquireCampaignLock } from "../store/campaign-lock.ts";
import type { CampaignRecord } from "../store/campaigns.ts";
import { requireCampaign } from "./require-campaign.ts";

const POLL_MS = 25;

/** Waiting stops when less than this is left before the deadline of the call. */
const MIN_REMAINING_MS = 2_000;

/**
 * Request ids do not serve as tokens: callers choose them. A repetition of a request with an idempotency key has the
 * same token, so that it does not wait for the lock of the process that died.
 */
export const lockTokenOf = ({ stepKey }: Call): string => stepKey?.("lock").key ?? randomUUID();

/**
 * Locks a campaign for a change that includes its vouchers, which belong to the voucher service. Changes
 * run one at a time, so that campaign and vouchers agree in the end. Waiting holds no connection.
 */
export async function acquireCampaignLock(
  deps: Deps,
  call: Call,
  idOrName: string,
): Promise<{ readonly lock: CampaignLock; readonly record: CampaignRecord }> {
  const projectId = call.project.id;
  const found = await requireCampaign(deps.db, projectId, idOrName);
  const lock = { projectId, campaignId: found.campaign.id, token: lockTokenOf(call) };
  for (;;) {
    const record = await tryAcquireCampaignLock(deps.db, lock);
    if (record !== undefined) return { lock, record };
    if (call.deadline - currentTime() < MIN_REMAINING_MS) {
      throw new ApiError("service_unavailable", {
        details: `Campaign ${found.campaign.id} is being changed; try again`,
      });
    }
    await sleep(POLL_MS);
    // Rejects a campaign that was deleted before it was locked.
    await requireCampaign(deps.db, projectId, lock.campaignId);
  }
}
