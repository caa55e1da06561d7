import type { JsonValue } from "@bufbuild/protobuf";
import { discountFromJson, discountToJson } from "@scrip/mapping";
import {
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  type Queryable,
  insertInto,
  updateOf,
} from "@scrip/postgres";

import type { Json } from "../domain/campaign.ts";
import type { Category } from "../domain/category.ts";
import type { PromotionTier } from "../domain/promotion.ts";
import {
  CATEGORY_COLUMNS,
  type CategoryColumns,
  categoryFromColumns,
  inKeyOrder,
  validityColumns,
  validityFromRow,
  type ValidityRow,
} from "./columns.ts";
import {
  tierUsageFromColumns,
  TIER_USAGE_COLUMNS,
  type TierUsage,
  type TierUsageColumns,
} from "./promotion-tier-usage.ts";

/** The part of the campaign that a tier shows. */
export type TierCampaign = {
  readonly id: string;
  readonly active: boolean;
  readonly startDate: number | null;
  readonly expirationDate: number | null;
};

/** A tier with its campaign, its usage, and its category unless that was deleted. */
export type TierRecord = {
  readonly tier: PromotionTier;
  readonly campaign: TierCampaign;
  readonly category: Category | null;
  readonly usage: TierUsage;
};

export type TierRow = ValidityRow &
  CategoryColumns &
  TierUsageColumns & {
    id: string;
    campaign_id: string;
    name: string;
    banner: string | null;
    discount: JsonValue;
    hierarchy: bigint;
    active: boolean;
    category_id: string | null;
    metadata: Json;
    created_at: Date;
    updated_at: Date | null;
    p_active: boolean;
    p_start_date: Date | null;
    p_expiration_date: Date | null;
  };

/** What an edit may change. */
const editableColumns: ColumnTable<PromotionTier> = {
  ...validityColumns,
  name: column.text(({ name }) => name),
  banner: column.text(({ banner }) => banner),
  discount: column.json(({ discount }) => JSON.stringify(discountToJson(discount))),
  hierarchy: column.int8(({ hierarchy }) => hierarchy),
  active: column.bool(({ active }) => active),
  category_id: column.text(({ categoryId }) => categoryId),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
};

const permanentColumns: ColumnTable<PromotionTier> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

/** Columns of `promotion_tier t` with its `campaign p`, its category `c` and its usage `u`. */
export const TIER_COLUMNS = `t.id, ${columnNames({ ...editableColumns, ...permanentColumns }, "t")},
  p.active as p_active, p.start_date as p_start_date, p.expiration_date as p_expiration_date,
  ${CATEGORY_COLUMNS}, ${TIER_USAGE_COLUMNS}`;
const JOINS = `join campaign p
    on p.project_id = t.project_id and p.id = t.campaign_id and p.deleted_at is null
  left join category c on c.project_id = t.project_id and c.id = t.category_id
  left join promotion_tier_usage u on u.project_id = t.project_id and u.tier_id = t.id`;
export const FROM_TIER = `from promotion_tier t ${JOINS}`;

export async function findTier(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<TierRecord | undefined> {
  const { rows } = await db.query<TierRow>(
    `select ${TIER_COLUMNS} ${FROM_TIER} where t.project_id = $1 and t.id = $2`,
    [projectId, id],
  );
  return rows[0] && tierFromRow(rows[0]);
}

/** Locks the row until the transaction ends: against other changes, and against new stacks of the tier. */
export async function lockTier(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<TierRecord | undefined> {
  const { rows } = await tx.query<TierRow>(
    `select ${TIER_COLUMNS} ${FROM_TIER} where t.project_id = $1 and t.id = $2 for update of t`,
    [projectId, id],
  );
  return rows[0] && tierFromRow(rows[0]);
}

/** Returns the ids that exist, and prevents their deletion until the transaction ends. */
export async function shareLockTiers(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select t.id from promotion_tier t
       join campaign p
         on p.project_id = t.project_id and p.id = t.campaign_id and p.deleted_at is null
      where t.project_id = $1 and t.id = any($2::text[])
      order by t.id
        for key share of t`,
    [projectId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Loads tiers for the definition cache, in the order of the keys, which are ids. */
export async function findTiers(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (TierRecord | undefined)[]> {
  const { rows } = await db.query<TierRow & { position: bigint }>(
    `select key.position, ${TIER_COLUMNS}
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, id, position)
             join promotion_tier t on t.project_id = key.project_id and t.id = key.id
             ${JOINS}`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, tierFromRow);
}

/** A campaign is returned with all its tiers, which limits their number. */
export const MAX_TIERS_OF_CAMPAIGN = 1_000;

/** The tiers of the campaigns in the order of their hierarchy. */
export async function listTiersOfCampaigns(
  db: Queryable,
  projectId: string,
  campaignIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TierRecord[]>> {
  if (campaignIds.length === 0) return new Map();
  const { rows } = await db.query<TierRow>(
    `select ${TIER_COLUMNS} ${FROM_TIER}
      where t.project_id = $1 and t.campaign_id = any($2::text[])
      order by t.hierarchy, t.id
      limit ${campaignIds.length * MAX_TIERS_OF_CAMPAIGN}`,
    [projectId, campaignIds],
  );
  return Map.groupBy(
    rows.map((row) => tierFromRow(row)),
    ({ tier }) => tier.campaignId,
  );
}

/** The number of tiers in the campaign and in the project, and the next free hierarchy of the campaign. */
export async function countTiers(
  tx: Queryable,
  projectId: string,
  campaignId: string,
): Promise<{
  readonly ofCampaign: number;
  readonly ofProject: number;
  readonly nextHierarchy: bigint;
}> {
  const { rows } = await tx.query<{ own: bigint; total: bigint; next: bigint }>(
    `select count(*) filter (where campaign_id = $2) as own, count(*) as total,
            coalesce(max(hierarchy) filter (where campaign_id = $2) + 1, 1)::int8 as next
       from promotion_tier
      where project_id = $1`,
    [projectId, campaignId],
  );
  const { own = 0n, total = 0n, next = 1n } = rows[0] ?? {};
  return { ofCampaign: Number(own), ofProject: Number(total), nextHierarchy: next };
}

export async function insertTier(
  tx: Queryable,
  projectId: string,
  tier: PromotionTier,
): Promise<void> {
  await tx.query(insertStatement(projectId, tier));
}

const insertStatement = insertInto("promotion_tier", { ...editableColumns, ...permanentColumns });

export async function updateTier(
  tx: Queryable,
  projectId: string,
  tier: PromotionTier,
): Promise<void> {
  await tx.query(updateStatement(projectId, tier));
}

const updateStatement = updateOf("promotion_tier", editableColumns);

export async function deleteTier(tx: Queryable, projectId: string, id: string): Promise<void> {
  await tx.query("delete from promotion_tier where project_id = $1 and id = $2", [projectId, id]);
}

export function tierFromRow(row: TierRow): TierRecord {
  return {
    category: categoryFromColumns(row),
    usage: tierUsageFromColumns(row),
    campaign: {
      id: row.campaign_id,
      active: row.p_active,
      startDate: row.p_start_date?.getTime() ?? null,
      expirationDate: row.p_expiration_date?.getTime() ?? null,
    },
    tier: {
      id: row.id,
      campaignId: row.campaign_id,
      name: row.name,
      banner: row.banner,
      discount: discountFromJson(row.discount),
      hierarchy: row.hierarchy,
      active: row.active,
      categoryId: row.category_id,
      validity: validityFromRow(row),
      metadata: row.metadata,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at?.getTime() ?? null,
    },
  };
}
