import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  column,
  columnNames,
  type ColumnTable,
  type ProjectQueryable,
  type Queryable,
  readPage,
  insertInto,
} from "@scrip/postgres";

import { keyOf } from "../domain/key.ts";

export type AssignmentRow = {
  readonly id: string;
  readonly reward_id: string;
  readonly campaign_id: string;
  readonly points: bigint | null;
  readonly auto_redeem: boolean | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

const columns: ColumnTable<AssignmentRow> = {
  reward_id: column.text((row) => row.reward_id),
  campaign_id: column.text((row) => row.campaign_id),
  points: column.int8(({ points }) => points),
  auto_redeem: column.single("bool", (row) => row.auto_redeem),
  created_at: column.timestamp((row) => row.created_at.getTime()),
  updated_at: column.timestamp((row) => row.updated_at && row.updated_at.getTime()),
};

const COLUMNS = `id, ${columnNames(columns)}`;

export const ONE_PER_CAMPAIGN = "reward_assignment_once";
export const ONE_AUTO_REDEEM = "reward_assignment_one_auto_redeem";

/** Violates `ONE_PER_CAMPAIGN` or `ONE_AUTO_REDEEM`, or the foreign key if the reward was deleted concurrently. */
export async function insertAssignment(
  db: Queryable,
  projectId: string,
  row: AssignmentRow,
): Promise<void> {
  await db.query(insertStatement(projectId, row));
}

const insertStatement = insertInto("reward_assignment", columns);

/** An assignment by id, which must belong to the reward or campaign if they are included. */
export type AssignmentReference = {
  readonly projectId: string;
  readonly id: string;
  readonly rewardId?: string;
  readonly campaignId?: string;
};

const MATCHES = `project_id = $1 and id = $2 and reward_id = coalesce($3, reward_id)
  and campaign_id = coalesce($4, campaign_id)`;

const referenceValues = ({ projectId, id, rewardId, campaignId }: AssignmentReference) => [
  projectId,
  id,
  rewardId ?? null,
  campaignId ?? null,
];

export async function findAssignment(
  db: Queryable,
  reference: AssignmentReference,
): Promise<AssignmentRow | undefined> {
  const { rows } = await db.query<AssignmentRow>(
    `select ${COLUMNS} from reward_assignment where ${MATCHES}`,
    referenceValues(reference),
  );
  return rows[0];
}

export async function updateAssignment(
  db: Queryable,
  reference: AssignmentReference,
  change: Pick<AssignmentRow, "points" | "auto_redeem" | "updated_at">,
): Promise<AssignmentRow | undefined> {
  const { rows } = await db.query<AssignmentRow>(
    `update reward_assignment set points = $5, auto_redeem = $6, updated_at = $7 where ${MATCHES}
     returning ${COLUMNS}`,
    [...referenceValues(reference), change.points, change.auto_redeem, change.updated_at],
  );
  return rows[0];
}

export async function deleteAssignment(
  db: Queryable,
  reference: AssignmentReference,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from reward_assignment where ${MATCHES}`,
    referenceValues(reference),
  );
  return rowCount === 1;
}

/** The ids of the first assignments of a reward, for error messages, and the number of all. */
export async function listAssignmentIds(
  db: ProjectQueryable,
  projectId: string,
  rewardId: string,
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows, total } = await listAssignments(db, {
    projectId,
    rewardId,
    limit: 100,
    offset: 0,
  });
  return { ids: rows.map(({ id }) => id), total };
}

export type AssignmentListing = {
  readonly projectId: string;
  readonly rewardId?: string;
  readonly campaignId?: string;
  readonly assignmentId?: string | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** One page of assignments, newest first, and the number of assignments on all pages. */
export async function listAssignments(
  db: ProjectQueryable,
  { projectId, rewardId, campaignId, assignmentId, createdAt, limit, offset }: AssignmentListing,
): Promise<{ readonly rows: readonly AssignmentRow[]; readonly total: bigint }> {
  const filtered = rewardId === undefined ? "campaign_id" : "reward_id";
  const values: unknown[] = [projectId, rewardId ?? campaignId];
  const conditions = [
    "project_id = $1",
    `${filtered} = $2`,
    ...timeRangeConditions("created_at", createdAt, values),
  ];
  if (assignmentId !== undefined) conditions.push(`id = $${values.push(assignmentId)}`);
  return readPage<AssignmentRow>(db, {
    projectId,
    columns: COLUMNS,
    from: `from reward_assignment where ${conditions.join(" and ")}`,
    order: "created_at desc, id desc",
    values,
    limit,
    offset,
  });
}

/** The next assignments of a program after the last one that was read, newest first. */
export async function listAssignmentsAfter(
  db: Queryable,
  {
    projectId,
    campaignId,
    last,
    limit,
  }: {
    readonly projectId: string;
    readonly campaignId: string;
    readonly last: Pick<AssignmentRow, "created_at" | "id"> | undefined;
    readonly limit: number;
  },
): Promise<readonly AssignmentRow[]> {
  const { rows } = await db.query<AssignmentRow>(
    `select ${COLUMNS} from reward_assignment
      where project_id = $1 and campaign_id = $2 and (created_at, id) < ($3::timestamptz, $4)
      order by created_at desc, id desc
      limit $5`,
    [projectId, campaignId, last?.created_at ?? "infinity", last?.id ?? "", limit],
  );
  return rows;
}

export type CampaignReward = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly rewardId: string;
};

/** The assignments of rewards to campaigns, by `keyOf` of project, campaign and reward. */
export async function findAssignmentsOfCampaigns(
  db: Queryable,
  names: readonly CampaignReward[],
): Promise<ReadonlyMap<string, AssignmentRow>> {
  if (names.length === 0) return new Map();
  const { rows } = await db.query<AssignmentRow & { project_id: string }>(
    `select project_id, ${COLUMNS} from reward_assignment
      where (project_id, campaign_id, reward_id) in
            (select * from unnest($1::text[], $2::text[], $3::text[]))`,
    [
      names.map(({ projectId }) => projectId),
      names.map(({ campaignId }) => campaignId),
      names.map(({ rewardId }) => rewardId),
    ],
  );
  return new Map(
    rows.map(({ project_id: projectId, ...row }) => [
      keyOf(projectId, row.campaign_id, row.reward_id),
      row,
    ]),
  );
}

/** Returns the assignments that exist, by `keyOf` of project and id. */
export async function findAssignments(
  db: Queryable,
  names: readonly { readonly projectId: string; readonly assignmentId: string }[],
): Promise<ReadonlyMap<string, AssignmentRow>> {
  if (names.length === 0) return new Map();
  const { rows } = await db.query<AssignmentRow & { project_id: string }>(
    `select project_id, ${COLUMNS} from reward_assignment
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [names.map(({ projectId }) => projectId), names.map(({ assignmentId }) => assignmentId)],
  );
  return new Map(rows.map(({ project_id: projectId, ...row }) => [keyOf(projectId, row.id), row]));
}
