import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { Client } from "pg";

import { newCode } from "../stack/api.ts";
import type { Fault } from "./fault.ts";
import { describeLoad, PER_SECOND, WARM_UP_MS } from "./load.ts";
import { countOf, describeProbes, probe } from "./probes.ts";
import { until } from "./shop.ts";

const AWAY_MS = 15_000;
const MAX_RECOVERY_MS = 5_000;
/** Attempts to connect. */
const AT_ONCE = 16;
const SUCCESS = 200;
const OVERLOADED = [429, 503, 504];

export const connectionsUsedUp: Fault = {
  id: "F09",
  title: "Another client of PostgreSQL takes all connections",
  criterion: "requests get 503, no process ends, and requests succeed within 5 s afterwards",
  inEveryRun: false,
  buses: ["postgres"],
  async run({ stack, shop, database }, { report }) {
    const load = shop.load(PER_SECOND);
    await sleep(WARM_UP_MS);
    const pids = stack.pids();
    const taken: Client[] = [];
    // Each connection that Scrip loses goes to the first that asks for it, until Scrip has none.
    for (let rest = 1; rest > 0;) {
      await takeConnections(stack.databaseUrl, taken);
      const own = taken.map((client) => (client as unknown as { processID: number }).processID);
      rest = (await database.query(TERMINATE_OTHERS, [own])).rowCount ?? 0;
    }
    report(`the other client has ${taken.length} connections`);
    const probes = await probe(AWAY_MS, 4, () =>
      shop.api.post("/v1/customers", { source_id: newCode("probe") }),
    );
    for (const client of taken) await client.end();
    const returnedAt = performance.now();
    await until(
      async () =>
        (await shop.api.post("/v1/customers", { source_id: newCode("probe") })).status === SUCCESS,
    );
    const recoveryMs = performance.now() - returnedAt;
    report(`writes: ${describeProbes(probes)}`);
    report(`a write succeeds ${recoveryMs.toFixed(0)} ms after the return`);
    report(describeLoad(await load.stop()));
    report(`accruals complete after ${(await shop.settle()).toFixed(0)} ms`);
    assert(countOf(probes, ...OVERLOADED) > 0, "the connections were not used up");
    assert(
      countOf(probes, SUCCESS, ...OVERLOADED) === probes.count,
      "a request got another response",
    );
    assert.deepEqual(stack.pids(), pids, "a process has ended");
    assert(recoveryMs < MAX_RECOVERY_MS, "the connections have not recovered in time");
  },
};

const TERMINATE_OTHERS = `
  select pg_terminate_backend(pid) from pg_stat_activity
   where backend_type = 'client backend' and pid <> pg_backend_pid() and pid <> all ($1::int[])`;

/** Connects until the server has no connection left. */
async function takeConnections(url: string, taken: Client[]): Promise<void> {
  for (;;) {
    const connecting = Array.from({ length: AT_ONCE }, async () => {
      const client = new Client({ connectionString: url });
      client.on("error", () => {});
      await client.connect();
      taken.push(client);
    });
    const results = await Promise.allSettled(connecting);
    if (results.some(({ status }) => status === "rejected")) return;
  }
}
