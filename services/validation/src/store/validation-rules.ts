import type { JsonObject } from "@bufbuild/protobuf";
import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  buildStatement,
  column,
  columnNames,
  type ColumnTable,
  type DefinitionKey,
  excludedAssignments,
  projectIdPart,
  type ProjectQueryable,
  type Queryable,
  readPage,
  rowOf,
} from "@scrip/postgres";

import { sortingOf } from "./sorting.ts";

/** The content of a rule in the terms of the API; `applicable_to` is the JSON of its message. */
export type RuleContent = {
  readonly rules: JsonObject;
  readonly bundle_rules: JsonObject | null;
  readonly applicable_to: JsonObject | null;
  readonly error_message: string | null;
};

export type RuleRow = RuleContent & {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly context_type: string;
  readonly created_at: Date;
  readonly updated_at: Date | null;
};

export type CountedRuleRow = RuleRow & { readonly assignments_count: bigint };

const contentColumns: ColumnTable<RuleContent> = {
  rules: column.json(({ rules }) => JSON.stringify(rules)),
  bundle_rules: column.json((row) => row.bundle_rules && JSON.stringify(row.bundle_rules)),
  applicable_to: column.json((row) => row.applicable_to && JSON.stringify(row.applicable_to)),
  error_message: column.text((row) => row.error_message),
};

/** What an edit may change. */
const editableColumns: ColumnTable<RuleRow> = {
  name: column.text(({ name }) => name),
  type: column.text(({ type }) => type),
  context_type: column.text((row) => row.context_type),
  ...contentColumns,
  updated_at: column.timestamp((row) => row.updated_at && row.updated_at.getTime()),
};

const columns: ColumnTable<RuleRow> = {
  id: column.text(({ id }) => id),
  created_at: column.timestamp((row) => row.created_at.getTime()),
  ...editableColumns,
};

const COLUMNS = columnNames(columns);
const COUNTED = `${COLUMNS}, (select count(*) from validation_rule_assignment assignment
   where assignment.project_id = rule.project_id and assignment.rule_id = rule.id) as assignments_count`;

export async function findRule(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<CountedRuleRow | undefined> {
  const { rows } = await db.query<CountedRuleRow>(
    `select ${COUNTED} from validation_rule rule where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0];
}

/** Reads and locks a rule, so that updates are serialized. */
export async function lockRule(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<CountedRuleRow | undefined> {
  const { rows } = await tx.query<CountedRuleRow>(
    `select ${COUNTED} from validation_rule rule
      where project_id = $1 and id = $2
        for no key update of rule`,
    [projectId, id],
  );
  return rows[0];
}

/** Prevents the deletion of the rules until the transaction ends; returns the ids that exist. */
export async function lockRulesAgainstDeletion(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from validation_rule
      where project_id = $1 and id = any($2::text[])
      order by id
        for key share`,
    [projectId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Locks a rule against concurrent assignments before its deletion; returns whether it exists. */
export async function lockRuleForDeletion(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    "select 1 from validation_rule where project_id = $1 and id = $2 for update",
    [projectId, id],
  );
  return rowCount === 1;
}

/** Inserts or replaces a rule. */
export async function saveRule(db: Queryable, projectId: string, row: RuleRow): Promise<void> {
  await db.query(saveStatement({ projectId, row }));
}

const saveStatement = buildStatement({
  parts: { projectId: projectIdPart, row: rowOf(columns) },
  text: ({ projectId, row }) => `
    insert into validation_rule (${projectId.columns}, ${row.columns})
    values (${projectId.values}, ${row.values})
        on conflict (project_id, id) do update
       set ${excludedAssignments(editableColumns)}`,
});

/** Fails while the rule is assigned. */
export async function deleteRule(tx: Queryable, projectId: string, id: string): Promise<void> {
  await tx.query("delete from validation_rule where project_id = $1 and id = $2", [projectId, id]);
}

export type RuleListing = {
  readonly projectId: string;
  readonly created: TimeRange;
  readonly order: string;
  readonly limit: number;
  readonly offset: number;
};

const SORTABLE: Readonly<Record<string, string>> = {
  created_at: "created_at",
  updated_at: "coalesce(updated_at, created_at)",
  name: "name",
};

/** One page and the total number of rules. Ties are sorted by id. */
export async function listRules(
  db: ProjectQueryable,
  { projectId, created, order, limit, offset }: RuleListing,
): Promise<{ readonly rows: readonly CountedRuleRow[]; readonly total: bigint }> {
  const values: unknown[] = [projectId];
  const conditions = ["project_id = $1", ...timeRangeConditions("created_at", created, values)];
  return readPage<CountedRuleRow>(db, {
    projectId,
    columns: COUNTED,
    from: `from validation_rule rule where ${conditions.join(" and ")}`,
    order: sortingOf(order, SORTABLE),
    values,
    limit,
    offset,
  });
}

/**
 * For the cache: the content of each rule, in the order of the keys. Not prepared by name: a plan
 * cached while the table was small would scan it.
 */
export async function findRuleContents(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (RuleContent | undefined)[]> {
  const { rows } = await db.query<RuleContent & { position: bigint }>(
    `select position, ${columnNames(contentColumns)}
             from unnest($1::text[], $2::text[]) with ordinality as requested (project_id, id, position)
             join validation_rule using (project_id, id)`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  const found = new Map(rows.map((row) => [Number(row.position), row]));
  return keys.map((_, index) => found.get(index + 1));
}

/**
 * Up to 10 rules that reference an id anywhere in their conditions or scope, and their total
 * number.
 */
export async function findRulesReferencing(
  db: Queryable,
  projectId: string,
  namedId: string,
): Promise<{ readonly ids: readonly string[]; readonly total: bigint }> {
  const { rows } = await db.query<{ id: string; total: bigint }>(
    `select id, count(*) over () as total
       from validation_rule,
            lateral jsonb_build_array(rules, bundle_rules, applicable_to) as parts
      where project_id = $1
        and jsonb_path_exists(parts, '$.** ? (@ == $id)', jsonb_build_object('id', $2::text))
      order by id
      limit ${MAX_LISTED_RULES}`,
    [projectId, namedId],
  );
  return { ids: rows.map(({ id }) => id), total: rows[0]?.total ?? 0n };
}

const MAX_LISTED_RULES = 10;
