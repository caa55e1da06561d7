import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import { parseDecimal } from "@scrip/money";
import {
  column,
  columnNames,
  type ColumnTable,
  insertInto,
  type ProjectQueryable,
  type Queryable,
  readPage,
  textArray,
} from "@scrip/postgres";

import type { TierMapping } from "../domain/earning/earned-points.ts";
import { decimalToText } from "../domain/tiers/decimal-text.ts";
import type { PriceMapping, Tier } from "../domain/tiers/tier.ts";

/** A mapping as JSON: decimals are text, points are numbers, which are exact: the contract bounds them. */
type StoredMapping =
  | { readonly type: "MULTIPLY"; readonly multiplier: string }
  | { readonly type: "CUSTOM"; readonly points: number }
  | { readonly type: "NOT_AVAILABLE" };

type TierRow = {
  readonly project_id: string;
  readonly id: string;
  readonly campaign_id: string;
  readonly name: string;
  readonly points_from: bigint;
  readonly points_to: bigint | null;
  readonly earning_rules: Readonly<Record<string, StoredMapping>>;
  readonly rewards: Readonly<Record<string, StoredMapping>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date | null;
  readonly deleted: boolean;
};

const columns: ColumnTable<Tier> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  name: column.text(({ name }) => name),
  points_from: column.int8(({ from }) => from),
  points_to: column.int8(({ to }) => to),
  earning_rules: column.json(({ earningRules }) => mappingsToJson(earningRules)),
  rewards: column.json(({ rewards }) => mappingsToJson(rewards)),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  created_at: column.timestamp(({ createdAt }) => createdAt),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
  deleted: column.bool(({ deleted }) => deleted),
};

const COLUMNS = `project_id, id, ${columnNames(columns)}`;

const insertStatement = insertInto("loyalty_tier", columns);

export async function insertTier(tx: Queryable, projectId: string, tier: Tier): Promise<void> {
  await tx.query(insertStatement(projectId, tier));
}

/** The tier must be locked by `lockTiers`. Its program never changes. */
export async function updateTier(tx: Queryable, projectId: string, tier: Tier): Promise<void> {
  await tx.query(
    `update loyalty_tier
        set name = $3, points_from = $4, points_to = $5, earning_rules = $6, rewards = $7, metadata = $8,
            updated_at = $9, deleted = $10
      where project_id = $1 and id = $2`,
    [
      projectId,
      tier.id,
      tier.name,
      tier.from,
      tier.to,
      mappingsToJson(tier.earningRules),
      mappingsToJson(tier.rewards),
      JSON.stringify(tier.metadata),
      tier.updatedAt === null ? null : new Date(tier.updatedAt),
      tier.deleted,
    ],
  );
}

/** The tiers of a program, deleted ones included. Concurrent changes wait until the transaction ends. */
export async function lockTiers(
  tx: Queryable,
  { projectId, campaignId }: { readonly projectId: string; readonly campaignId: string },
): Promise<readonly Tier[]> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
    `loyalty tiers ${projectId} ${campaignId}`,
  ]);
  const { rows } = await tx.query<TierRow>(
    `select ${COLUMNS} from loyalty_tier where project_id = $1 and campaign_id = $2 order by created_at, id`,
    [projectId, campaignId],
  );
  return rows.map(tierFromRow);
}

export async function findTier(
  db: Queryable,
  {
    projectId,
    campaignId,
    id,
  }: { readonly projectId: string; readonly campaignId?: string; readonly id: string },
): Promise<Tier | undefined> {
  const { rows } = await db.query<TierRow>(
    `select ${COLUMNS} from loyalty_tier
      where project_id = $1 and id = $2 and campaign_id = coalesce($3, campaign_id) and not deleted`,
    [projectId, id, campaignId ?? null],
  );
  return rows[0] && tierFromRow(rows[0]);
}

export async function listTiers(
  db: ProjectQueryable,
  {
    projectId,
    campaignId,
    createdAt,
    order,
    limit,
    offset,
  }: {
    readonly projectId: string;
    readonly campaignId: string;
    readonly createdAt: TimeRange | undefined;
    readonly order: string;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly tiers: readonly Tier[]; readonly total: bigint }> {
  const values: unknown[] = [projectId, campaignId];
  const conditions = [
    "project_id = $1 and campaign_id = $2 and not deleted",
    ...timeRangeConditions("created_at", createdAt, values),
  ];
  const { rows, total } = await readPage<TierRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `from loyalty_tier where ${conditions.join(" and ")}`,
    order,
    values,
    limit,
    offset,
  });
  return { tiers: rows.map(tierFromRow), total };
}

/** The tiers of projects, deleted ones included, oldest first. */
export async function findProjectTiers(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Tier[]>> {
  const { rows } = await db.query<TierRow>(
    `select ${COLUMNS} from loyalty_tier where project_id = any($1::text[]) order by created_at, id`,
    [textArray(projectIds)],
  );
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return new Map([...byProject].map(([projectId, of]) => [projectId, of.map(tierFromRow)]));
}

const mappingsToJson = (mappings: ReadonlyMap<string, PriceMapping>): string =>
  JSON.stringify(Object.fromEntries([...mappings].map(([id, one]) => [id, mappingToJson(one)])));

function mappingToJson(mapping: PriceMapping): StoredMapping {
  switch (mapping.type) {
    case "MULTIPLY":
      return { type: mapping.type, multiplier: decimalToText(mapping.multiplier) };
    case "CUSTOM":
      return { type: mapping.type, points: Number(mapping.points) };
    default:
      return mapping;
  }
}

function mappingFromJson(stored: StoredMapping): PriceMapping {
  switch (stored.type) {
    case "MULTIPLY":
      return {
        type: stored.type,
        multiplier: parseDecimal(stored.multiplier) ?? { unscaled: 1n, scale: 0 },
      };
    case "CUSTOM":
      return { type: stored.type, points: BigInt(stored.points) };
    default:
      return stored;
  }
}

const mappingsFromJson = (
  stored: Readonly<Record<string, StoredMapping>>,
): ReadonlyMap<string, PriceMapping> =>
  new Map(Object.entries(stored).map(([id, one]) => [id, mappingFromJson(one)]));

const tierFromRow = (row: TierRow): Tier => ({
  id: row.id,
  campaignId: row.campaign_id,
  name: row.name,
  from: row.points_from,
  to: row.points_to,
  earningRules: mappingsFromJson(row.earning_rules) as ReadonlyMap<string, TierMapping>,
  rewards: mappingsFromJson(row.rewards),
  metadata: row.metadata,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at && row.updated_at.getTime(),
  deleted: row.deleted,
});
