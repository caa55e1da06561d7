import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { tierOf } from "../domain/tiers/follow-ledger.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import { type ProjectTiers, tiersByProgram } from "../loading/loyalty-tiers.ts";
import { type CardKey, findMembersOfCustomers } from "../store/loyalty-members.ts";
import { findProjectTiers } from "../store/loyalty-tiers.ts";
import { findMemberTiers } from "../store/member-tiers.ts";

/** The tiers of projects, by their id: cached, so that it usually costs no statement. */
export const loadTiers = async (
  { tiers }: Pick<Deps, "tiers">,
  of: readonly { readonly projectId: string }[],
): Promise<ReadonlyMap<string, ProjectTiers>> =>
  new Map(
    await Promise.all(
      [...new Set(of.map(({ projectId }) => projectId))].map(
        async (id) => [id, await tiers(id)] as const,
      ),
    ),
  );

/** The tiers of projects as they are now. */
export async function readTiers(
  db: Queryable,
  of: readonly { readonly projectId: string }[],
): Promise<ReadonlyMap<string, ProjectTiers>> {
  const tiers = await findProjectTiers(db, [...new Set(of.map(({ projectId }) => projectId))]);
  return new Map([...tiers].map(([id, ofProject]) => [id, tiersByProgram(ofProject)]));
}

/** The tiers that cards are in, by `keyOf` of project and card. Costs no statement for projects without tiers. */
export async function findHolderTiers(
  db: Queryable,
  projects: ReadonlyMap<string, ProjectTiers>,
  cards: readonly CardKey[],
): Promise<ReadonlyMap<string, Tier>> {
  const states = await findMemberTiers(
    db,
    cards.filter(({ projectId }) => (projects.get(projectId)?.size ?? 0) > 0),
  );
  return new Map(
    [...states.values()].flatMap(({ projectId, cardId, campaignId, tierId }) => {
      const tier = tierOf(projects.get(projectId)?.get(campaignId) ?? [], tierId);
      return tier === null || tier.deleted ? [] : [[keyOf(projectId, cardId), tier] as const];
    }),
  );
}

/** A tier of a customer, who has it by a card of this program. */
export type CustomerTier = { readonly campaignId: string; readonly tier: Tier };

/** The tiers that customers are in, by `keyOf` of project and customer. Costs no statement for projects without tiers. */
export async function findTiersOfCustomers(
  deps: Pick<Deps, "tiers"> & { readonly db: Queryable },
  customers: readonly { readonly projectId: string; readonly customerId: string }[],
): Promise<ReadonlyMap<string, readonly CustomerTier[]>> {
  const projects = await loadTiers(deps, customers);
  const owners = customers.filter(({ projectId }) => (projects.get(projectId)?.size ?? 0) > 0);
  const members = [...(await findMembersOfCustomers(deps.db, owners)).values()].flat();
  const tiers = await findHolderTiers(deps.db, projects, members);
  const held = members.flatMap(({ projectId, cardId, customerId, campaignId }) => {
    const tier = tiers.get(keyOf(projectId, cardId));
    if (tier === undefined || campaignId === null) return [];
    return [{ key: keyOf(projectId, customerId), campaignId, tier }];
  });
  return Map.groupBy(held, ({ key }) => key);
}
