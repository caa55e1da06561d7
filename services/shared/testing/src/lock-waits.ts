import { asAdmin } from "./admin.ts";

/** The number of sessions of the database at `url` that wait for a lock. Roles of services do not see it. */
export const lockWaits = (url: string): Promise<number> =>
  asAdmin(url, async (client) => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  });
