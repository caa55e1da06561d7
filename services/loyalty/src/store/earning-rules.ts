import { type TimeRange, timeRangeConditions } from "@scrip/filters";
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

import type { Calculation, EarningRule } from "../domain/earning/earning-rule.ts";

type Definition = Pick<
  EarningRule,
  "pendingDays" | "expirationRules" | "banner" | "validity" | "automationId"
> & {
  readonly calculation: StoredCalculation;
  /** Earlier releases did not store it. */
  readonly ruleAssignedAt?: number | null;
};

/** Points and sizes are numbers in JSON, which are exact: the contract bounds them. */
type StoredCalculation =
  | (Omit<Extract<Calculation, { type: "FIXED" }>, "points"> & { readonly points: number })
  | (Omit<Extract<Calculation, { type: "PROPORTIONAL" }>, "points" | "every"> & {
      readonly points: number;
      readonly every: number;
    });

type EarningRuleRow = {
  readonly project_id: string;
  readonly id: string;
  readonly campaign_id: string;
  readonly event: string;
  readonly schema_id: string | null;
  readonly segment_id: string | null;
  readonly tier_id: string | null;
  readonly validation_rule_id: string | null;
  readonly definition: Definition;
  readonly active: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

const columns: ColumnTable<EarningRule> = {
  campaign_id: column.text((rule) => rule.campaignId),
  event: column.text(({ event }) => event),
  schema_id: column.text((rule) => rule.schemaId),
  segment_id: column.text((rule) => rule.segmentId),
  tier_id: column.text((rule) => rule.tierId),
  validation_rule_id: column.text((rule) => rule.validationRuleId),
  definition: column.json((rule) => definitionToJson(rule)),
  active: column.bool(({ active }) => active),
  metadata: column.json(({ metadata }) => JSON.stringify(metadata)),
  created_at: column.timestamp((rule) => rule.createdAt),
  updated_at: column.timestamp((rule) => rule.updatedAt),
};

const COLUMNS = `project_id, id, ${columnNames(columns)}`;

const definitionToJson = (rule: EarningRule): string =>
  JSON.stringify(
    {
      calculation: rule.calculation,
      pendingDays: rule.pendingDays,
      expirationRules: rule.expirationRules,
      banner: rule.banner,
      validity: rule.validity,
      automationId: rule.automationId,
      ruleAssignedAt: rule.ruleAssignedAt,
    },
    (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value),
  );

function ruleFromRow(row: EarningRuleRow): EarningRule {
  const { calculation, ruleAssignedAt = null, ...definition } = row.definition;
  return {
    id: row.id,
    campaignId: row.campaign_id,
    event: row.event,
    schemaId: row.schema_id,
    segmentId: row.segment_id,
    tierId: row.tier_id,
    validationRuleId: row.validation_rule_id,
    ruleAssignedAt,
    ...definition,
    calculation:
      calculation.type === "FIXED"
        ? { ...calculation, points: BigInt(calculation.points) }
        : {
            ...calculation,
            points: BigInt(calculation.points),
            every: BigInt(calculation.every),
          },
    active: row.active,
    metadata: row.metadata,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at && row.updated_at.getTime(),
  };
}

/**
 * SQL over `earning_rule`: whether its program still exists. Nobody can read or delete the rules of a deleted program, so
 * they neither count nor protect what they refer to.
 */
export const HAS_PROGRAM = `not exists (
  select from loyalty_program p
   where p.project_id = earning_rule.project_id and p.id = earning_rule.campaign_id and p.deleted)`;

/** Counts the rules of a project. Concurrent creations wait until the transaction ends, so that the limit holds. */
export async function countEarningRules(tx: Queryable, projectId: string): Promise<bigint> {
  await tx.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [
    `earning rule ${projectId}`,
  ]);
  const { rows } = await tx.query<{ total: bigint }>(
    `select count(*) as total from earning_rule where project_id = $1 and ${HAS_PROGRAM}`,
    [projectId],
  );
  return rows[0]?.total ?? 0n;
}

const insertStatement = insertInto("earning_rule", columns);

export async function insertEarningRule(
  tx: Queryable,
  projectId: string,
  rule: EarningRule,
): Promise<void> {
  await tx.query(insertStatement(projectId, rule));
}

/** A rule of a program. */
export type EarningRuleReference = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly id: string;
};

export async function findEarningRule(
  db: Queryable,
  { projectId, campaignId, id }: EarningRuleReference,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<EarningRule | undefined> {
  const { rows } = await db.query<EarningRuleRow>(
    `select ${COLUMNS} from earning_rule where project_id = $1 and campaign_id = $2 and id = $3
     ${lock ? "for no key update" : ""}`,
    [projectId, campaignId, id],
  );
  return rows[0] && ruleFromRow(rows[0]);
}

/** The rules of a project that have a validation rule, in no order. */
export async function findValidatedEarningRules(
  db: Queryable,
  projectId: string,
  { validationRuleId, id }: { readonly validationRuleId?: string; readonly id?: string },
): Promise<readonly EarningRule[]> {
  const { rows } = await db.query<EarningRuleRow>(
    `select ${COLUMNS} from earning_rule
      where project_id = $1 and validation_rule_id is not null and ${HAS_PROGRAM}
        and ($2::text is null or validation_rule_id = $2) and ($3::text is null or id = $3)`,
    [projectId, validationRuleId ?? null, id ?? null],
  );
  return rows.map(ruleFromRow);
}

/** The program of an earning rule, unless the program was deleted. */
export async function findProgramOfRule(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ campaign_id: string }>(
    `select campaign_id from earning_rule where project_id = $1 and id = $2 and ${HAS_PROGRAM}`,
    [projectId, id],
  );
  return rows[0]?.campaign_id;
}

/** The rule must be locked. The program, the event and what it is about never change. */
export async function updateEarningRule(
  tx: Queryable,
  projectId: string,
  rule: EarningRule,
): Promise<void> {
  await tx.query(
    `update earning_rule
        set validation_rule_id = $3, definition = $4, active = $5, metadata = $6, updated_at = $7
      where project_id = $1 and id = $2`,
    [
      projectId,
      rule.id,
      rule.validationRuleId,
      definitionToJson(rule),
      rule.active,
      JSON.stringify(rule.metadata),
      rule.updatedAt === null ? null : new Date(rule.updatedAt),
    ],
  );
}

export async function deleteEarningRule(
  tx: Queryable,
  { projectId, campaignId, id }: EarningRuleReference,
): Promise<EarningRule | undefined> {
  const { rows } = await tx.query<EarningRuleRow>(
    `delete from earning_rule where project_id = $1 and campaign_id = $2 and id = $3
     returning ${COLUMNS}`,
    [projectId, campaignId, id],
  );
  return rows[0] && ruleFromRow(rows[0]);
}

export async function listEarningRules(
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
): Promise<{ readonly rules: readonly EarningRule[]; readonly total: bigint }> {
  const values: unknown[] = [projectId, campaignId];
  const conditions = timeRangeConditions("created_at", createdAt, values);
  const from = `from earning_rule where ${["project_id = $1 and campaign_id = $2", ...conditions].join(" and ")}`;
  const { rows, total } = await readPage<EarningRuleRow>(db, {
    projectId,
    columns: COLUMNS,
    from,
    order,
    values,
    limit,
    offset,
  });
  return { rules: rows.map(ruleFromRow), total };
}

/** The rules of projects, oldest first: at most a hundred each. */
export async function findProjectEarningRules(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly EarningRule[]>> {
  const { rows } = await db.query<EarningRuleRow>(
    `select ${COLUMNS} from earning_rule where project_id = any($1::text[]) and ${HAS_PROGRAM}
      order by created_at, id`,
    [textArray(projectIds)],
  );
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return new Map([...byProject].map(([projectId, of]) => [projectId, of.map(ruleFromRow)]));
}

/** Ids of rules that refer to a segment, a loyalty tier or an event by its name: at most ten, and their number. */
export async function findRulesReferringTo(
  tx: Queryable,
  projectId: string,
  reference: { readonly column: "segment_id" | "event" | "tier_id"; readonly id: string },
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from earning_rule where project_id = $1 and ${reference.column} = $2 and ${HAS_PROGRAM}
      order by id`,
    [projectId, reference.id],
  );
  return { ids: rows.slice(0, 10).map(({ id }) => id), total: BigInt(rows.length) };
}
