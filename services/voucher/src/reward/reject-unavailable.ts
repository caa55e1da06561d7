import type { CommitOutcome } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import { buildError, rejectedOutcome } from "../commit/build-rejections.ts";
import type { Command } from "../commit/parse-command.ts";
import type { Deps } from "../deps.ts";
import { findCampaign, isCampaignActive } from "../store/campaigns.ts";
import { findHoldingInCampaign } from "../store/holders.ts";
import { findStoredResponses } from "../store/idempotency.ts";
import { findUnpublishedVouchers } from "../store/unpublished-vouchers.ts";

/**
 * Rejects the redemptions of CAMPAIGN rewards that could not be given: their campaign is disabled or deleted, or has no
 * free code. A code that is published between this check and the commit leaves the reward PENDING
 * (services/decisions/0057-rewards-given-after-the-commit.md). Costs no statement without CAMPAIGN rewards.
 */
export async function rejectUnavailable(
  deps: Pick<Deps, "db">,
  commands: readonly Command[],
): Promise<ReadonlyMap<Command, CommitOutcome>> {
  const rewarding = commands.filter((command) => wantedRewards(command).length > 0);
  const checked = await Promise.all(
    rewarding.map(async (command) => [command, await findShortage(deps, command)] as const),
  );
  const rejected = checked.flatMap(([command, details]) => {
    if (details === undefined) return [];
    const { requestId } = command.message;
    const error = buildError("no_voucher_suitable_for_publication", requestId, details);
    return [[command, rejectedOutcome(error)] as const];
  });
  return new Map(rejected);
}

type WantedReward = { readonly campaignId: string; readonly credits: boolean };

const wantedRewards = ({ isRejection, message: { parts } }: Command): readonly WantedReward[] =>
  isRejection
    ? []
    : parts.flatMap(({ points }) => {
        const { type, parameters } = points?.reward ?? {};
        if (type !== "CAMPAIGN" || parameters?.campaign === undefined) return [];
        const { id, balance } = parameters.campaign;
        return [{ campaignId: id, credits: balance !== undefined }];
      });

/** Why a reward of a command cannot be given; undefined for a repeated command, which gives it once. */
async function findShortage(deps: Pick<Deps, "db">, command: Command): Promise<string | undefined> {
  const byCampaign = Map.groupBy(wantedRewards(command), ({ campaignId }) => campaignId);
  for (const [campaignId, wanted] of byCampaign) {
    const details = await findShortageOf(deps, command, { campaignId, wanted });
    if (details !== undefined) return (await isRepeated(deps, command)) ? undefined : details;
  }
  return undefined;
}

async function findShortageOf(
  { db }: Pick<Deps, "db">,
  { projectId, customerId, at }: Command,
  { campaignId, wanted }: { readonly campaignId: string; readonly wanted: readonly WantedReward[] },
): Promise<string | undefined> {
  const campaign = await findCampaign(db, projectId, campaignId);
  if (campaign === undefined) return `Campaign ${campaignId} was deleted`;
  if (!(await isCampaignActive(db, projectId, campaignId))) {
    return `Campaign '${campaign.name}' is disabled`;
  }
  if (campaign.template !== null) return undefined;
  const coupons = wanted.filter(({ credits }) => !credits).length;
  // Points and credits are added to the voucher that the customer holds, or to one that is published.
  const isCredited = wanted.length > coupons;
  const holder = isCredited && customerId !== null ? { projectId, campaignId, customerId } : null;
  const holds = holder !== null && (await findHoldingInCampaign(db, holder)) !== null;
  const limit = coupons + (isCredited && !holds ? 1 : 0);
  if (limit === 0) return undefined;
  const free = await findUnpublishedVouchers(db, { projectId, campaignId, now: at, limit });
  return free.length < limit
    ? `Campaign '${campaign.name}' has not enough vouchers that are active and were never published`
    : undefined;
}

async function isRepeated(
  { db }: Pick<Deps, "db">,
  { projectId, idempotency }: Command,
): Promise<boolean> {
  if (idempotency === null) return false;
  return (await findStoredResponses(db, [{ projectId, key: idempotency.key }])).size > 0;
}
