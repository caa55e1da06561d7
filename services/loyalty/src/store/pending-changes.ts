import type { Queryable } from "@scrip/postgres";

import type { ProgramPeriod } from "./ledger-entries.ts";

export type PendingSums = Readonly<Record<"added" | "subtracted" | "canceled", bigint>>;

/**
 * What became of the pending points of a program. The last change of an entry that has ended takes all its points; those that
 * ended without a record of changes did so at `updated_at`.
 */
export async function sumPendingChanges(
  db: Queryable,
  { projectId, campaignId, from, until }: ProgramPeriod,
): Promise<PendingSums> {
  const { rows } = await db.query<PendingSums>(
    `with entry as (
       select points, status, changes, created_at, updated_at,
              case when status = 'PENDING' then -1 else jsonb_array_length(changes) end as end_position
         from pending_points
        where project_id = $1 and campaign_id = $2),
     change as (
       select to_timestamp((c.value ->> 'at')::int8 / 1000.0) as at, (c.value ->> 'points')::int8 as points,
              c.position = entry.end_position as is_end, entry.status
         from entry
        cross join jsonb_array_elements(changes) with ordinality as c (value, position)
        union all
       select created_at,
              points - (select coalesce(sum((c.value ->> 'points')::int8), 0)
                          from jsonb_array_elements(changes) with ordinality as c (value, position)
                         where c.position <> end_position)::int8,
              false, status
         from entry
        union all
       select updated_at, -points, true, status from entry where end_position = 0)
     select coalesce(sum(points) filter (where not is_end and points > 0), 0)::int8 as added,
            coalesce(-sum(points) filter (where not is_end and points < 0), 0)::int8 as subtracted,
            coalesce(-sum(points) filter (where is_end and status = 'CANCELED'), 0)::int8 as canceled
       from change
      where ($3::timestamptz is null or at >= $3) and ($4::timestamptz is null or at < $4)`,
    [
      projectId,
      campaignId,
      from === null ? null : new Date(from),
      until === null ? null : new Date(until),
    ],
  );
  return rows[0] ?? { added: 0n, subtracted: 0n, canceled: 0n };
}
