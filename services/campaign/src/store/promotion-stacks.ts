import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  type ProjectQueryable,
  type Queryable,
  readPage,
  insertInto,
  updateOf,
} from "@scrip/postgres";

import type { Json } from "../domain/campaign.ts";
import type { Category } from "../domain/category.ts";
import type { PromotionStack } from "../domain/promotion.ts";
import {
  CATEGORY_COLUMNS,
  type CategoryColumns,
  categoryFromColumns,
  inKeyOrder,
  orderByClause,
} from "./columns.ts";

/** A stack, and its category unless that was deleted. */
export type StackRecord = { readonly stack: PromotionStack; readonly category: Category | null };

type StackRow = CategoryColumns & {
  id: string;
  campaign_id: string;
  name: string;
  tier_ids: string[];
  category_id: string | null;
  metadata: Json;
  created_at: Date;
  updated_at: Date | null;
};

/** What an edit may change. */
const editableColumns: ColumnTable<PromotionStack> = {
  name: column.text(({ name }) => name),
  tier_ids: column.single("text[]", ({ tierIds }) => tierIds),
  category_id: column.text(({ categoryId }) => categoryId),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  updated_at: column.timestamp(({ updatedAt }) => updatedAt),
};

const permanentColumns: ColumnTable<PromotionStack> = {
  campaign_id: column.text(({ campaignId }) => campaignId),
  created_at: column.timestamp(({ createdAt }) => createdAt),
};

const COLUMNS = `s.id, ${columnNames({ ...editableColumns, ...permanentColumns }, "s")},
  ${CATEGORY_COLUMNS}`;
const JOIN = `join campaign p
    on p.project_id = s.project_id and p.id = s.campaign_id and p.deleted_at is null
  left join category c on c.project_id = s.project_id and c.id = s.category_id`;
const FROM_STACK = `from promotion_stack s ${JOIN}`;

export type StackKey = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly id: string;
};

export async function findStack(
  db: Queryable,
  { projectId, campaignId, id }: StackKey,
): Promise<StackRecord | undefined> {
  const { rows } = await db.query<StackRow>(
    `select ${COLUMNS} ${FROM_STACK}
      where s.project_id = $1 and s.campaign_id = $2 and s.id = $3`,
    [projectId, campaignId, id],
  );
  return rows[0] && stackFromRow(rows[0]);
}

/** Locks the row until the transaction ends. */
export async function lockStack(
  tx: Queryable,
  { projectId, campaignId, id }: StackKey,
): Promise<StackRecord | undefined> {
  const { rows } = await tx.query<StackRow>(
    `select ${COLUMNS} ${FROM_STACK}
      where s.project_id = $1 and s.campaign_id = $2 and s.id = $3
        for no key update of s`,
    [projectId, campaignId, id],
  );
  return rows[0] && stackFromRow(rows[0]);
}

/** Loads stacks for the definition cache, in the order of the keys, which are ids. */
export async function findStacks(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (StackRecord | undefined)[]> {
  const { rows } = await db.query<StackRow & { position: bigint }>(
    `select key.position, ${COLUMNS}
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, id, position)
             join promotion_stack s on s.project_id = key.project_id and s.id = key.id
             ${JOIN}`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, stackFromRow);
}

export async function countStacks(tx: Queryable, projectId: string): Promise<number> {
  const { rows } = await tx.query<{ total: bigint }>(
    "select count(*) as total from promotion_stack where project_id = $1",
    [projectId],
  );
  return Number(rows[0]?.total ?? 0n);
}

/** The number of stacks that contain a tier, and the ids of the first `limit` of them. */
export async function listStacksContaining(
  tx: Queryable,
  projectId: string,
  query: { readonly tierId: string; readonly limit: number },
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows } = await tx.query<{ id: string; total: bigint }>(
    `select id, count(*) over () as total
       from promotion_stack
      where project_id = $1 and $2 = any(tier_ids)
      order by id
      limit $3`,
    [projectId, query.tierId, query.limit],
  );
  return { ids: rows.map(({ id }) => id), total: rows[0]?.total ?? 0n };
}

export async function insertStack(
  tx: Queryable,
  projectId: string,
  stack: PromotionStack,
): Promise<void> {
  await tx.query(insertStatement(projectId, stack));
}

const insertStatement = insertInto("promotion_stack", { ...editableColumns, ...permanentColumns });

export async function updateStack(
  tx: Queryable,
  projectId: string,
  stack: PromotionStack,
): Promise<void> {
  await tx.query(updateStatement(projectId, stack));
}

const updateStatement = updateOf("promotion_stack", editableColumns);

export async function deleteStack(
  tx: Queryable,
  { projectId, campaignId, id }: StackKey,
): Promise<"deleted" | "not_found"> {
  const { rowCount } = await tx.query(
    "delete from promotion_stack where project_id = $1 and campaign_id = $2 and id = $3",
    [projectId, campaignId, id],
  );
  return rowCount === 1 ? "deleted" : "not_found";
}

export type StackListing = {
  readonly projectId: string;
  /** Default: all campaigns. */
  readonly campaignId?: string;
  readonly createdAt?: TimeRange | undefined;
  readonly updatedAt?: TimeRange | undefined;
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

/** One page of stacks, and the number of stacks on all pages. */
export async function listStacks(
  db: ProjectQueryable,
  { projectId, campaignId, createdAt, updatedAt, order, limit, offset }: StackListing,
): Promise<{ readonly records: readonly StackRecord[]; readonly total: bigint }> {
  const values: unknown[] = [projectId];
  const conditions = ["s.project_id = $1"];
  if (campaignId !== undefined) conditions.push(`s.campaign_id = $${values.push(campaignId)}`);
  conditions.push(
    ...timeRangeConditions("s.created_at", createdAt, values),
    ...timeRangeConditions("s.updated_at", updatedAt, values),
  );
  const { rows, total } = await readPage<StackRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `${FROM_STACK} where ${conditions.join(" and ")}`,
    order: orderByClause(order, "s"),
    values,
    limit,
    offset,
  });
  return { records: rows.map((row) => stackFromRow(row)), total };
}

function stackFromRow(row: StackRow): StackRecord {
  return {
    category: categoryFromColumns(row),
    stack: {
      id: row.id,
      campaignId: row.campaign_id,
      name: row.name,
      tierIds: row.tier_ids,
      categoryId: row.category_id,
      metadata: row.metadata,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at?.getTime() ?? null,
    },
  };
}
