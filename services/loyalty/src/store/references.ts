import type { Queryable } from "@scrip/postgres";

import { HAS_PROGRAM } from "./earning-rules.ts";

const MAX_LISTED = 10;

export type References = {
  /** Empty without references. */
  readonly type: "earning_rule" | "reward" | "";
  /** The first ten. */
  readonly ids: readonly string[];
  readonly total: bigint;
};

/**
 * The earning rules that name one of the validation rules, products, SKUs or collections or, if there are none, the rewards
 * that do. A project has at most 100 earning rules.
 */
export async function findReferences(
  db: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<References> {
  const { rows } = await db.query<{ type: "earning_rule" | "reward"; id: string; total: bigint }>(
    `with earning as (
       select 'earning_rule' as type, id from earning_rule
        where project_id = $1 and ${HAS_PROGRAM}
          and (validation_rule_id = any($2::text[])
               or jsonb_path_exists(definition, '$.calculation.targets[*].id ? (@ == $ids[*])',
                                    jsonb_build_object('ids', $2::text[])))),
     found as (
       select type, id from earning
       union all
       select 'reward', id from reward
        where project_id = $1 and type = 'MATERIAL'
          and (parameters #>> '{product,id}' = any($2::text[])
               or parameters #>> '{product,sku_id}' = any($2::text[]))
          and not exists (select from earning))
     select type, id, count(*) over () as total from found order by id limit ${MAX_LISTED}`,
    [projectId, ids],
  );
  const [first] = rows;
  return { type: first?.type ?? "", ids: rows.map(({ id }) => id), total: first?.total ?? 0n };
}
