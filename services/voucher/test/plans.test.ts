import { createDatabase, type ProjectQueryable, type Queryable } from "@scrip/postgres";
import { asAdmin, pagesRead } from "@scrip/testing";
import { expect, test } from "vitest";

import type { ProjectCount } from "../src/domain/counts.ts";
import { ROLE, SCHEMA } from "../src/service.ts";
import { type CandidateSearch, findCandidates, searchValues } from "../src/store/candidates.ts";
import { readCounts } from "../src/store/counts.ts";
import { findStoredResponses } from "../src/store/idempotency.ts";
import { lockUnpublishedVouchers } from "../src/store/unpublished-vouchers.ts";
import { lockUsages } from "../src/store/usages.ts";
import { findVoucher, findVouchers, findVouchersById } from "../src/store/vouchers.ts";
import { startTestService } from "./deps.ts";

const ROWS = 6_000;
const FEW_ROWS = 60;
/**
 * Maximum number of index and table pages read per requested name. An index lookup reads two or three, and one
 * more for the row, in at most two tables; a scan of the project reads hundreds.
 */
const MOST_PAGES = 20;
const NAMES = Array.from({ length: 500 }, (_, index) => index * 11);

const countOf = (overrides: Partial<ProjectCount>): ProjectCount => ({
  projectId: "p",
  scope: { kind: "campaign", id: "camp_1" },
  measure: "REDEMPTIONS",
  customerId: null,
  channelId: null,
  since: null,
  productId: null,
  ...overrides,
});

type Lookup = {
  /** Number of requested names. */
  readonly names: number;
  readonly run: (tx: ProjectQueryable) => Promise<unknown>;
};

const counts = (wanted: readonly ProjectCount[]): Lookup => ({
  names: wanted.length,
  run: (tx) => readCounts(tx, wanted),
});
const named = <Name>(
  nameOf: (n: number) => Name,
  find: (tx: Queryable, names: readonly Name[]) => Promise<unknown>,
): Lookup => ({ names: NAMES.length, run: (tx) => find(tx, NAMES.map(nameOf)) });

/** As many as one search looks at. */
const WINDOW = 1_000;
const search = {
  projectId: "p",
  holderId: null,
  standaloneTypes: ["DISCOUNT_VOUCHER"],
  publicCampaignIds: [],
  after: null,
  codes: [],
  limit: 5,
  filter: "true",
} satisfies Omit<CandidateSearch, "values">;
const NOW = Date.now();

const lookups: Readonly<Record<string, Lookup>> = {
  "counts of customers": counts(
    NAMES.flatMap((n) => [
      countOf({ customerId: `cust_${n}` }),
      countOf({ customerId: `cust_${n}`, since: 1, measure: "ORDERS_AMOUNT" }),
      countOf({ scope: { kind: "voucher", id: "v_1" }, customerId: `cust_${n}` }),
      countOf({ scope: { kind: "promotion_tier", id: "promo_1" }, customerId: `cust_${n}` }),
    ]),
  ),
  "counts of codes": counts(
    NAMES.map((n) => countOf({ scope: { kind: "voucher", id: `v_${n}` }, since: 1 })),
  ),
  codes: named((n) => ({ projectId: "p", code: `CODE${n}` }), findVouchers),
  code: { names: 1, run: (tx) => findVoucher(tx, "p", "CODE22") },
  ids: named((n) => ({ projectId: "p", id: `v_${n}` }), findVouchersById),
  usages: named((n) => ({ projectId: "p", voucherId: `v_${n}` }), lockUsages),
  keys: named((n) => ({ projectId: "p", key: `key${n}` }), findStoredResponses),
  // All that are looked at are used up.
  candidates: {
    names: WINDOW,
    run: (tx) => findCandidates(tx, { ...search, values: searchValues(search, NOW) }),
  },
  free: {
    names: 1,
    run: (tx) =>
      lockUnpublishedVouchers(tx, {
        projectId: "p",
        campaignId: "camp",
        now: Date.now(),
        limit: 1,
      }),
  },
};

const TABLES = ["voucher", "voucher_usage", "idempotency_default", "redemption"];
type Run = (statement: string) => Promise<unknown>;

async function eachTable(run: Run, statementOf: (table: string) => string): Promise<void> {
  for (const table of TABLES) await run(statementOf(`${SCHEMA}.${table}`));
}

/** Statistics of the tables when the plans are cached; the project has no rows then. */
const STATES: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  "never analysed": async () => {},
  "analysed while they were empty": (run) => eachTable(run, (table) => `vacuum analyze ${table}`),
  "with the statistics of a page or two": async (run) => {
    await fill(run, FEW_ROWS);
    await eachTable(run, (table) => `analyze ${table}`);
    await eachTable(run, (table) => `delete from ${table}`);
  },
  "with the statistics of large ones": async (run) => {
    await fill(run, ROWS);
    await eachTable(run, (table) => `analyze ${table}`);
    await eachTable(run, (table) => `delete from ${table}`);
  },
  "with the statistics of other projects": async (run) => {
    await fill(run, 2_000, "'other' || n % 40");
    await eachTable(run, (table) => `analyze ${table}`);
  },
  "with the statistics of many small projects": async (run) => {
    await fill(run, 2_000, "'other' || n");
    await eachTable(run, (table) => `analyze ${table}`);
  },
};

test.each(Object.entries(STATES))(
  "plans cached for few rows use the indexes when there are many (%s)",
  async (_, prepare) => {
    await using service = await startTestService();
    await using parts = new AsyncDisposableStack();
    // Plans are cached per connection, so there is only one.
    const db = createDatabase({
      url: service.db.url,
      schema: SCHEMA,
      role: ROLE,
      poolSize: 1,
      onError: () => {},
      // The test checks the pages read, not the duration.
      statementTimeoutMs: 20_000,
    });
    parts.defer(() => db.close());
    await asAdmin(service.db.url, async (client) => {
      const run: Run = (statement) => client.query(statement);
      // Prevents autovacuum from analysing the tables during the test.
      await eachTable(run, (table) => `alter table ${table} set (autovacuum_enabled = false)`);
      await prepare(run);
      // Postgres caches a generic plan from the sixth execution on.
      for (let time = 0; time < 8; time += 1)
        for (const lookup of Object.values(lookups)) await db.transaction(lookup.run);
      await fill(run, ROWS);
    });
    const pages: Record<string, number> = {};
    for (const [name, lookup] of Object.entries(lookups)) {
      const before = await pagesRead(db);
      await db.transaction(lookup.run);
      pages[name] = ((await pagesRead(db)) - before) / lookup.names;
    }
    const excessive = Object.entries(pages).filter(([, each]) => each > MOST_PAGES);
    expect(excessive, "pages read for each name").toEqual([]);
  },
);

/** Inserts `rows` rows into each table; `project` is SQL for the project of the nth row. */
async function fill(run: Run, rows: number, project = "'p'"): Promise<void> {
  // Half of them in a campaign with few unpublished vouchers, the others standalone.
  await run(
    `insert into voucher.voucher (project_id, id, code, code_key, type, discount, metadata, asset_id,
            is_referral_code, created_at, definition_version, campaign_id, publish_count)
     select ${project}, 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER', '{}', '{}', 'a',
            false, now() + n * interval '1 ms', 1, case when n % 2 = 0 then 'camp' end,
            case when n % 2 = 0 and n <= ${rows} - 10 then 1 else 0 end
       from generate_series(1, ${rows}) n`,
  );
  await run(
    `insert into voucher.voucher_usage (project_id, voucher_id, definition_version, quantity,
            redeemed_quantity)
     select ${project}, 'v_' || n, 1, 1, 1 from generate_series(1, ${rows}) n`,
  );
  await run(
    `insert into voucher.idempotency (project_id, key, request_hash, outcome, kind)
     select ${project}, 'key' || n, 'h', 'o', 'rollback' from generate_series(1, ${rows}) n`,
  );
  // Half of them in one campaign, by one code; the others by a code each.
  await run(
    `insert into voucher.redemption (project_id, id, voucher_id, campaign_id, customer_id, created_at,
            status, channel_id, channel_type, request_id)
     select ${project}, 'r_' || n, case when n % 2 = 0 then 'v_1' else 'v_' || n end,
            case when n % 2 = 0 then 'camp_1' end, 'cust_' || n, now(), 'SUCCEEDED', 'app',
            'API', 'v-1'
       from generate_series(1, ${rows}) n`,
  );
}
