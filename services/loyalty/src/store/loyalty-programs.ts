import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  excludedAssignments,
  type Queryable,
} from "@scrip/postgres";
import { parseExpirationRules, type Validity } from "@scrip/rules";

import { keyOf } from "../domain/key.ts";
import type { Json, LoyaltyProgram } from "../domain/loyalty-program.ts";
import { queueChangedSql } from "./changed-customers.ts";

/** A program with its rules as the campaign has them. */
export type ProgramRecord = Omit<LoyaltyProgram, "expirationRules"> & {
  readonly expirationRules: Json | null;
};

type ProgramRow = {
  project_id: string;
  id: string;
  name: string;
  active: boolean;
  auto_join: boolean;
  validity: Validity;
  expiration_rules: Json | null;
  tiers_expiration: Json | null;
  initial_points: bigint;
  deleted: boolean;
};

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const changeable: ColumnTable<ProgramRecord> = {
  name: column.text(({ name }) => name),
  active: column.bool(({ active }) => active),
  auto_join: column.bool(({ autoJoin }) => autoJoin),
  validity: column.json(({ validity }) => JSON.stringify(validity)),
  expiration_rules: column.json(({ expirationRules }) => json(expirationRules)),
  tiers_expiration: column.json(({ tiersExpiration }) => json(tiersExpiration)),
  initial_points: column.int8(({ initialPoints }) => initialPoints),
  deleted: column.bool(({ deleted }) => deleted),
};

/**
 * Inserts or replaces programs; the events of a program arrive in order. Holders of cards that arrived before their
 * program are queued for segments by points of the program.
 */
export async function savePrograms(
  db: Queryable,
  programs: readonly ProgramRecord[],
): Promise<void> {
  if (programs.length > 0) await db.query(saveStatement({ programs }));
}

const saveStatement = buildStatement({
  parts: {
    programs: batchOf<ProgramRecord>({
      project_id: column.text(({ projectId }) => projectId),
      id: column.text(({ id }) => id),
      ...changeable,
    }),
  },
  text: ({ programs }) => `
    with saved as (
      insert into loyalty_program (${programs.columns})
      select ${programs.columns} from ${programs.rows("item")} order by project_id, id
          on conflict (project_id, id) do update set ${excludedAssignments(changeable)}
      returning project_id, id, xmax = 0 as is_new
    ), holders as (
      select project_id, m.customer_id
        from saved
        join loyalty_member m using (project_id)
       where is_new and m.campaign_id = saved.id
    )
    ${queueChangedSql("holders", "customer_id")}`,
});

/** Programs by `keyOf` of project and campaign, deleted ones included. */
export async function findPrograms(
  db: Queryable,
  keys: readonly { readonly projectId: string; readonly campaignId: string }[],
): Promise<ReadonlyMap<string, LoyaltyProgram>> {
  if (keys.length === 0) return new Map();
  const { rows } = await db.query<ProgramRow>(
    `select project_id, id, name, active, auto_join, validity, expiration_rules, tiers_expiration,
            initial_points, deleted
       from loyalty_program
      where (project_id, id) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(({ projectId }) => projectId), keys.map(({ campaignId }) => campaignId)],
  );
  return new Map(rows.map((row) => [keyOf(row.project_id, row.id), programFromRow(row)]));
}

function programFromRow(row: ProgramRow): LoyaltyProgram {
  const parsed = row.expiration_rules === null ? null : parseExpirationRules(row.expiration_rules);
  return {
    projectId: row.project_id,
    id: row.id,
    name: row.name,
    active: row.active,
    autoJoin: row.auto_join,
    validity: row.validity,
    // Rules that were stored before they were checked and make no sense never expire points.
    expirationRules: parsed !== null && "rules" in parsed ? parsed.rules : null,
    tiersExpiration: row.tiers_expiration,
    initialPoints: row.initial_points,
    deleted: row.deleted,
  };
}
