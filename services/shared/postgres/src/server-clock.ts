import { adjustClock } from "@scrip/clock";
import { Client } from "pg";

const TIMEOUT_MS = 5_000;

/** Adjusts the clock of this process to the time of a PostgreSQL server, over a connection of its own. */
export async function adjustClockTo(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: "clock",
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  });
  // A connection that breaks also fails the running query; without a listener it ends the process.
  client.on("error", () => {});
  await client.connect();
  try {
    await adjustClock(async () => {
      const { rows } = await client.query<{ readonly time: number }>(
        "select (extract(epoch from clock_timestamp()) * 1000)::float8 as time",
      );
      return Number(rows[0]?.time);
    });
  } finally {
    await client.end();
  }
}
