import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  column,
  columnNames,
  type ColumnTable,
  type ProjectQueryable,
  type Queryable,
  readPage,
  insertInto,
  updateOf,
} from "@scrip/postgres";

import type { Stock } from "../domain/hold-points.ts";
import { keyOf } from "../domain/key.ts";
import type { RewardParameters, RewardType } from "../domain/reward.ts";

export type RewardRow = {
  readonly id: string;
  readonly name: string | null;
  readonly type: RewardType;
  readonly parameters: RewardParameters;
  readonly stock: bigint | null;
  readonly redeemed: bigint;
  readonly attributes: { readonly image_url?: string; readonly description?: string };
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

/** What an edit may change; only redemptions change `redeemed`. */
const editableColumns: ColumnTable<RewardRow> = {
  name: column.text(({ name }) => name),
  parameters: column.json(({ parameters }) => JSON.stringify(parameters)),
  stock: column.int8(({ stock }) => stock),
  attributes: column.json(({ attributes }) => JSON.stringify(attributes)),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  updated_at: column.timestamp((row) => row.updated_at && row.updated_at.getTime()),
};

const permanentColumns: ColumnTable<RewardRow> = {
  type: column.text(({ type }) => type),
  redeemed: column.int8(({ redeemed }) => redeemed),
  created_at: column.timestamp((row) => row.created_at.getTime()),
};

const COLUMNS = `id, ${columnNames({ ...editableColumns, ...permanentColumns })}`;

export async function insertReward(
  db: Queryable,
  projectId: string,
  row: RewardRow,
): Promise<void> {
  await db.query(insertStatement(projectId, row));
}

const insertStatement = insertInto("reward", { ...editableColumns, ...permanentColumns });

/** Writes the editable columns. */
export async function updateReward(
  tx: Queryable,
  projectId: string,
  row: RewardRow,
): Promise<void> {
  await tx.query(updateStatement(projectId, row));
}

const updateStatement = updateOf("reward", editableColumns);

/** `lock` locks the row until the transaction ends. */
export async function findReward(
  db: Queryable,
  projectId: string,
  id: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<RewardRow | undefined> {
  const { rows } = await db.query<RewardRow>(
    `select ${COLUMNS} from reward where project_id = $1 and id = $2 ${lock ? "for update" : ""}`,
    [projectId, id],
  );
  return rows[0];
}

/** Violates the foreign key of assignments if the reward is assigned. */
export async function deleteReward(db: Queryable, projectId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from reward where project_id = $1 and id = $2", [
    projectId,
    id,
  ]);
  return rowCount === 1;
}

/** One page of rewards, newest first, and the number of rewards on all pages. */
export async function listRewards(
  db: ProjectQueryable,
  {
    projectId,
    assignmentId,
    createdAt,
    limit,
    offset,
  }: {
    readonly projectId: string;
    readonly assignmentId: string | null;
    readonly createdAt: TimeRange | undefined;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly rows: readonly RewardRow[]; readonly total: bigint }> {
  const values: unknown[] = [projectId, assignmentId];
  const conditions = [
    "project_id = $1",
    `($2::text is null or id = (
             select reward_id from reward_assignment where project_id = $1 and id = $2))`,
    ...timeRangeConditions("created_at", createdAt, values),
  ];
  return readPage<RewardRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `from reward where ${conditions.join(" and ")}`,
    order: "created_at desc, id desc",
    values,
    limit,
    offset,
  });
}

type RewardReference = { readonly projectId: string; readonly rewardId: string };

/** Returns the rewards that exist, by `keyOf` of project and id. */
export async function findRewards(
  db: Queryable,
  names: readonly RewardReference[],
): Promise<ReadonlyMap<string, RewardRow>> {
  if (names.length === 0) return new Map();
  const { rows } = await db.query<RewardRow & { project_id: string }>(
    `select project_id, ${COLUMNS} from reward
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [names.map(({ projectId }) => projectId), names.map(({ rewardId }) => rewardId)],
  );
  return new Map(rows.map(({ project_id: projectId, ...row }) => [keyOf(projectId, row.id), row]));
}

/** Locks rewards in key order; cards are locked before. */
export async function lockStocks(
  tx: Queryable,
  names: readonly RewardReference[],
): Promise<ReadonlyMap<string, Stock>> {
  if (names.length === 0) return new Map();
  const { rows } = await tx.query<Stock & { project_id: string; id: string }>(
    `select project_id, id, stock, redeemed from reward
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))
      order by project_id, id
        for no key update`,
    [names.map(({ projectId }) => projectId), names.map(({ rewardId }) => rewardId)],
  );
  return new Map(
    rows.map(({ project_id: projectId, id, stock, redeemed }) => [
      keyOf(projectId, id),
      { stock, redeemed },
    ]),
  );
}

/** Changes the redeemed quantity of rewards: up for a hold, down for a release or refund. */
export async function changeStocks(
  tx: Queryable,
  moves: readonly (RewardReference & { readonly by: bigint })[],
): Promise<void> {
  const sums = new Map<string, RewardReference & { by: bigint }>();
  for (const move of moves) {
    const key = keyOf(move.projectId, move.rewardId);
    sums.set(key, { ...move, by: move.by + (sums.get(key)?.by ?? 0n) });
  }
  if (sums.size === 0) return;
  // The update alone would lock the rows in any order and could deadlock.
  await lockStocks(tx, [...sums.values()]);
  const sorted = [...sums.values()];
  await tx.query(
    `update reward r set redeemed = r.redeemed + item.by
       from unnest($1::text[], $2::text[], $3::int8[]) as item (project_id, id, by)
      where r.project_id = item.project_id and r.id = item.id`,
    [
      sorted.map(({ projectId }) => projectId),
      sorted.map(({ rewardId }) => rewardId),
      sorted.map(({ by }) => by),
    ],
  );
}
