import { asAdmin, entriesRead, testDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { claimDeliveries } from "../src/store/webhook-claims.ts";
import { insertDeliveries, storeAttempt } from "../src/store/webhook-deliveries.ts";

const HOOK = { projectId: "proj_1", webhookId: "wh_1" };
/** Deliveries of bulk work that wait when the statements are measured. */
const ROWS = 20_000;
/** Some for each delivery: a plan without the right index reads all that wait. */
const MOST_ENTRIES = 200;

const deliveriesOf = (run: number) =>
  [1, 2, 3].map((number) => ({
    ...HOOK,
    id: `whs_${run}_${number}`,
    type: "voucher.updated",
    eventId: `event_${run}_${number}`,
    aggregateId: `v_${number}`,
    createdAt: new Date(),
    isBulk: false,
    bodyOf: () => "{}",
  }));

const CLAIM = { webhooks: 5, perWebhook: 4, busy: [], leaseMs: 60_000 };
const SUCCESS = { responseStatus: 200, error: null, durationMs: 1 };
const FAILURE = { responseStatus: 500, error: "status 500", durationMs: 1 };

type Run = (statement: string) => Promise<unknown>;

const inTables: readonly string[] = ["webhook", "webhook_delivery", "webhook_sequence"];

async function analyze(run: Run): Promise<void> {
  for (const table of inTables) await run(`vacuum analyze ${SCHEMA}.${table}`);
}

/** Statistics of the tables when the plans are cached. */
const STATES: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  "never analysed": async () => {},
  "analysed while they were empty": analyze,
};

test.each(Object.entries(STATES))(
  "statements about deliveries read few of them, with plans for tables %s",
  async (_, prepare) => {
    // Plans belong to a connection, so the pool has one.
    await using db = await testDatabase({
      schema: SCHEMA,
      role: ROLE,
      folder: MIGRATIONS,
      poolSize: 1,
    });
    const inDatabase = (work: (run: Run) => Promise<void>) =>
      asAdmin(db.url, (client) => work((statement) => client.query(statement)));
    await inDatabase(async (run) => {
      for (const table of inTables)
        await run(`alter table ${SCHEMA}.${table} set (autovacuum_enabled = false)`);
      await prepare(run);
      await run(
        `insert into export.webhook (project_id, id, target_url, events, headers, active, created_at)
         values ('proj_1', 'wh_1', 'https://shop.example/', '{voucher.updated}', '{}', true, now())`,
      );
    });
    const read: Record<string, number> = {};
    const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const before = await entriesRead(db, "webhook_delivery");
      await work();
      read[name] = (await entriesRead(db, "webhook_delivery")) - before;
    };
    const use = async (run: number): Promise<void> => {
      await measure("insert", () =>
        db.transaction((tx) => insertDeliveries(tx, deliveriesOf(run))),
      );
      let claimed: Awaited<ReturnType<typeof claimDeliveries>> = [];
      await measure("claim", async () => {
        claimed = await claimDeliveries(db, CLAIM);
      });
      const [succeeds, fails] = claimed;
      await measure("success", () => storeAttempt(db, succeeds!, SUCCESS, undefined));
      await measure("failure", () => storeAttempt(db, fails!, FAILURE, 60_000));
      await db.query("update webhook_delivery set next_attempt_at = null, status = 'SUCCEEDED'");
    };
    for (let run = 0; run < 8; run += 1) await use(run);
    await inDatabase(async (run) => {
      await run(
        `insert into export.webhook_delivery (project_id, webhook_id, id, type, event_id, aggregate_id, sequence,
                body, created_at, bulk, next_attempt_at)
         select 'proj_1', 'wh_1', 'bulk_' || n, 'voucher.created', 'bulk_' || n,
                case n % 2 when 0 then 'a_' else 'w_' end || n, 1, '{}', now(), true, now()
           from generate_series(1, ${ROWS}) n`,
      );
    });
    await use(8);
    expect(Object.entries(read).filter(([, entries]) => entries > MOST_ENTRIES)).toEqual([]);
    expect(Object.keys(read)).toHaveLength(4);
  },
);
