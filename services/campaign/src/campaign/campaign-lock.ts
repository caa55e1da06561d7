import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { notFound, ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { takeTurn, type Turn } from "../store/campaign-lock.ts";
import { type CampaignRecord, findCampaign } from "../store/campaigns.ts";

/** How often somebody who waits for a campaign asks whether it is free. */
const POLL_MS = 25;

/** What is left of a request's time when waiting makes no sense any more. */
const LEFT_MS = 2_000;

/** Not the id of the request, which callers choose. */
export const newToken = (): string => randomUUID();

/**
 * The turn to change a campaign together with its vouchers, which are in another service: one at a
 * time, so that voucher and campaign agree in the end. Whoever waits holds no connection.
 */
export async function awaitTurn(
  deps: Deps,
  call: Call,
  idOrName: string,
): Promise<{ readonly turn: Turn; readonly record: CampaignRecord }> {
  const projectId = call.project.id;
  const found = await findCampaign(deps.db, projectId, idOrName);
  if (found === undefined) throw notFound("campaign", idOrName);
  const turn = { projectId, campaignId: found.campaign.id, token: newToken() };
  for (;;) {
    const record = await takeTurn(deps.db, turn);
    if (record !== undefined) return { turn, record };
    if (call.deadline - Date.now() < LEFT_MS) {
      throw new ApiError("service_unavailable", {
        details: `Campaign ${found.campaign.id} is being changed; try again`,
      });
    }
    await sleep(POLL_MS);
  }
}
