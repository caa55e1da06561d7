import {
  batchOf,
  buildStatement,
  column,
  type ColumnTable,
  type Queryable,
  summedAssignments,
} from "@scrip/postgres";

/** Validations by their outcome. */
export type ValidationCounts = { readonly succeeded: bigint; readonly failed: bigint };

/** Validations of a campaign on one day (`YYYY-MM-DD`). */
export type DailyValidations = ValidationCounts & {
  readonly projectId: string;
  readonly campaignId: string;
  readonly day: string;
};

type Days = { readonly from: string | undefined; readonly until: string | undefined };

/** The validations of a campaign on the days from `from` to `until`, both inclusive. */
export async function sumCampaignValidations(
  db: Queryable,
  { projectId, campaignId }: { readonly projectId: string; readonly campaignId: string },
  { from, until }: Days,
): Promise<ValidationCounts> {
  const { rows } = await db.query<{ succeeded: bigint; failed: bigint }>(
    `select coalesce(sum(succeeded), 0)::int8 as succeeded, coalesce(sum(failed), 0)::int8 as failed
       from campaign_validation
      where project_id = $1 and campaign_id = $2
        and day between coalesce($3::date, '-infinity') and coalesce($4::date, 'infinity')`,
    [projectId, campaignId, from ?? null, until ?? null],
  );
  return rows[0] ?? { succeeded: 0n, failed: 0n };
}

/**
 * Adds to the validations of campaigns, each day listed once; those of deleted campaigns are skipped. Locks are taken in
 * key order, so that concurrent batches do not deadlock.
 */
export async function addCampaignValidations(
  tx: Queryable,
  counted: readonly DailyValidations[],
): Promise<void> {
  await tx.query(addStatement({ counted }));
}

const sumColumns: ColumnTable<ValidationCounts> = {
  succeeded: column.int8(({ succeeded }) => succeeded),
  failed: column.int8(({ failed }) => failed),
};

const addStatement = buildStatement({
  parts: {
    counted: batchOf<DailyValidations>({
      project_id: column.text(({ projectId }) => projectId),
      campaign_id: column.text(({ campaignId }) => campaignId),
      day: column.date(({ day }) => day),
      ...sumColumns,
    }),
  },
  text: ({ counted }) => `
    with counted as materialized (
      select * from ${counted.rows("item")}
    ), held as materialized (
      select c.project_id, c.id
        from campaign c
       where (c.project_id, c.id) in (select project_id, campaign_id from counted)
       order by c.project_id, c.id
         for key share
    )
    insert into campaign_validation as known (${counted.columns})
    select ${counted.columns}
      from counted
     where (project_id, campaign_id) in (select project_id, id from held)
     order by project_id, campaign_id, day
        on conflict (project_id, campaign_id, day) do update
       set ${summedAssignments(sumColumns, "known")}`,
});
