import type { Queryable } from "@scrip/postgres";

export type ProjectCalendar = {
  readonly timeZone: string;
  /** The clock of a sandbox that has one of its own. */
  readonly sandboxNow: number | null;
};

/** Of a project that has not arrived, although consumers and jobs have waited for it. */
export const DEFAULT_CALENDAR: ProjectCalendar = { timeZone: "UTC", sandboxNow: null };

export type CalendarRow = { readonly time_zone: string; readonly sandbox_now: Date | null };

export const calendarFromRow = (row: CalendarRow): ProjectCalendar => ({
  timeZone: row.time_zone,
  sandboxNow: row.sandbox_now?.getTime() ?? null,
});

/** The different time zones and clocks of all projects. */
export async function listCalendars(db: Queryable): Promise<readonly ProjectCalendar[]> {
  const { rows } = await db.query<CalendarRow>(
    "select distinct time_zone, sandbox_now from project where not deleted",
  );
  return rows.map(calendarFromRow);
}

/** The time zones and clocks of projects, by their id. */
export async function findCalendars(
  db: Queryable,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, ProjectCalendar>> {
  const { rows } = await db.query<CalendarRow & { readonly project_id: string }>(
    "select project_id, time_zone, sandbox_now from project where project_id = any($1::text[])",
    [[...new Set(projectIds)]],
  );
  return new Map(rows.map((row) => [row.project_id, calendarFromRow(row)]));
}
