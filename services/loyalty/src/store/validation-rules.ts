import { type Queryable, textArray } from "@scrip/postgres";
import type { Metadata } from "@scrip/rules";

export type ValidationRuleRow = {
  readonly projectId: string;
  readonly id: string;
  /** Null: the rule is deleted. */
  readonly rules: Metadata | null;
  readonly changedAt: Date;
};

/** Stores the newest state of each rule; an older one changes nothing. */
export async function upsertValidationRules(
  tx: Queryable,
  rules: readonly ValidationRuleRow[],
): Promise<void> {
  const newest = new Map<string, ValidationRuleRow>();
  for (const rule of rules) {
    const key = `${rule.projectId} ${rule.id}`;
    const before = newest.get(key);
    if (before === undefined || before.changedAt <= rule.changedAt) newest.set(key, rule);
  }
  const sorted = [...newest].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
  if (sorted.length === 0) return;
  await tx.query(
    `insert into validation_rule as stored (project_id, id, rules, changed_at)
     select * from unnest($1::text[], $2::text[], $3::jsonb[], $4::timestamptz[])
         on conflict (project_id, id) do update
        set rules = excluded.rules, changed_at = excluded.changed_at
      where stored.changed_at < excluded.changed_at`,
    [
      textArray(sorted.map(({ projectId }) => projectId)),
      textArray(sorted.map(({ id }) => id)),
      sorted.map((rule) => rule.rules && JSON.stringify(rule.rules)),
      sorted.map(({ changedAt }) => changedAt),
    ],
  );
}

/** The conditions of the rules that earning rules refer to, by id; deleted rules are null, unknown ones are left out. */
export async function findEarningConditions(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Metadata | null>>> {
  const { rows } = await db.query<{ project_id: string; id: string; rules: Metadata | null }>(
    `select project_id, id, rules from validation_rule v
      where project_id = any($1::text[])
        and exists (select from earning_rule e
                     where e.project_id = v.project_id and e.validation_rule_id = v.id)`,
    [textArray(projectIds)],
  );
  const byProject = Map.groupBy(rows, (row) => row.project_id);
  return new Map(
    [...byProject].map(([projectId, of]) => [
      projectId,
      new Map(of.map(({ id, rules }) => [id, rules])),
    ]),
  );
}
