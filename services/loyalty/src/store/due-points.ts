import { type Queryable, textArray, timestampArray } from "@scrip/postgres";

import type { LocalDate } from "../domain/local-date.ts";
import { calendarFromRow, type CalendarRow, type ProjectCalendar } from "./project-calendars.ts";

/** A calendar and its current date. */
export type DatedCalendar = ProjectCalendar & { readonly today: LocalDate };

export type DueProject = ProjectCalendar & { readonly projectId: string };

/**
 * Projects with points that expire or become active, rewards to redeem, or tiers that change, by the date on the project's
 * calendar. The date is an argument because PostgreSQL reads offsets with the opposite sign and does not know all names.
 */
export async function listProjectsWithDuePoints(
  db: Queryable,
  calendars: readonly DatedCalendar[],
): Promise<readonly DueProject[]> {
  const { rows } = await db.query<CalendarRow & { readonly project_id: string }>(
    `select project_id, p.time_zone, p.sandbox_now
       from project p
       join (select time_zone, sandbox_now, date::date
               from unnest($1::text[], $2::timestamptz[], $3::text[]) as c (time_zone, sandbox_now, date)) as today
         on today.time_zone = p.time_zone and today.sandbox_now is not distinct from p.sandbox_now
      where not deleted
        and (exists (select from loyalty_card c
                      where c.project_id = p.project_id and c.next_expires_on < today.date)
          or exists (select from pending_points e
                      where e.project_id = p.project_id and e.status = 'PENDING'
                        and e.activates_on <= today.date)
          or (exists (select from reward_assignment a where a.project_id = p.project_id and a.auto_redeem)
              and not exists (select from auto_redeem_night n
                               where n.project_id = p.project_id and n.date = today.date))
          or exists (select from member_tier m
                      where m.project_id = p.project_id and m.due_on <= today.date))`,
    [
      textArray(calendars.map(({ timeZone }) => timeZone)),
      timestampArray(calendars.map(({ sandboxNow }) => sandboxNow)),
      textArray(calendars.map(({ today }) => today)),
    ],
  );
  return rows.map((row) => ({ projectId: row.project_id, ...calendarFromRow(row) }));
}

/** The earliest date of a card's lots in this range; null without one. */
export async function findNextExpiration(
  db: Queryable,
  projectId: string,
  { from, before }: { readonly from: string | null; readonly before: string },
): Promise<string | null> {
  const { rows } = await db.query<{ date: string | null }>(
    `select min(next_expires_on) as date from loyalty_card
      where project_id = $1 and next_expires_on < $2::date
        and ($3::date is null or next_expires_on >= $3::date)`,
    [projectId, before, from],
  );
  return rows[0]?.date ?? null;
}

/** Ids of cards with lots before a date, in their order. */
export async function findDueCards(
  db: Queryable,
  {
    projectId,
    before,
    after,
    limit,
  }: {
    readonly projectId: string;
    readonly before: string;
    readonly after: string;
    readonly limit: number;
  },
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from loyalty_card
      where project_id = $1 and next_expires_on < $2::date and id > $3
      order by id
      limit $4`,
    [projectId, before, after, limit],
  );
  return rows.map(({ id }) => id);
}
