import { invalidPayload, notFound } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { overlappingTiers, type Tier } from "../domain/tiers/tier.ts";
import { loyaltyTiersChangedEvent } from "../events/loyalty-tier-changed.ts";
import { findEarningRule } from "../store/earning-rules.ts";
import { lockTiers } from "../store/loyalty-tiers.ts";
import { findAssignments } from "../store/reward-assignments.ts";
import { findRewards } from "../store/rewards.ts";

/** A request that changes the tiers of a program. */
export type TierChangeRequest = { readonly call: Call; readonly campaignId: string };

export type ProgramKey = { readonly projectId: string; readonly campaignId: string };

/**
 * Changes the tiers of a program under its lock: `change` gets all of them, writes, and returns them as they are then. If
 * ranges changed, all members are evaluated.
 */
export async function changeTiers<Result>(
  deps: Deps,
  { call, campaignId }: TierChangeRequest,
  change: (
    tx: Queryable,
    tiers: readonly Tier[],
  ) => Promise<{
    readonly tiers: readonly Tier[];
    readonly evaluates: boolean;
    readonly result: Result;
  }>,
): Promise<Result> {
  const program = { projectId: call.project.id, campaignId };
  const result = await deps.definitions.write(program.projectId, async (tx) => {
    const changed = await change(tx, await lockTiers(tx, program));
    const overlap = overlappingTiers(changed.tiers);
    if (overlap !== null) {
      const [a, b] = overlap;
      throw invalidPayload(`The points of the tiers '${a.name}' and '${b.name}' overlap`);
    }
    if (changed.evaluates) {
      const event = { ...program, recalculate: false, afterCardId: "" };
      await enqueue(tx, [loyaltyTiersChangedEvent(deps.newId("event"), event)], call);
    }
    return changed.result;
  });
  deps.onEvents();
  return result;
}

/** Rejects mappings of rules and assignments that the program does not have, and fixed prices of COIN rewards. */
export async function requireMapped(
  tx: Queryable,
  { projectId, campaignId }: ProgramKey,
  tiers: readonly Pick<Tier, "earningRules" | "rewards">[],
): Promise<void> {
  const ruleIds = new Set(tiers.flatMap(({ earningRules }) => [...earningRules.keys()]));
  for (const id of ruleIds) {
    if ((await findEarningRule(tx, { projectId, campaignId, id })) === undefined) {
      throw notFound("earning_rule", id);
    }
  }
  const prices = tiers.flatMap(({ rewards }) => [...rewards]);
  const assignments = await findAssignments(
    tx,
    prices.map(([assignmentId]) => ({ projectId, assignmentId })),
  );
  for (const [id] of prices) {
    if (assignments.get(keyOf(projectId, id))?.campaign_id !== campaignId) {
      throw notFound("reward_assignment", id);
    }
  }
  const rewards = await findRewards(
    tx,
    [...assignments.values()].map(({ reward_id: rewardId }) => ({ projectId, rewardId })),
  );
  const fixed = prices.find(([id, { type }]) => {
    const rewardId = assignments.get(keyOf(projectId, id))?.reward_id ?? "";
    return type === "CUSTOM" && rewards.get(keyOf(projectId, rewardId))?.type === "COIN";
  });
  if (fixed !== undefined) {
    throw invalidPayload(`Property .rewards.${fixed[0]}.type cannot be CUSTOM for a COIN reward`);
  }
}
