import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

import { Client } from "pg";

import { type Api, serverApi } from "../stack/api.ts";
import { startComposition } from "../stack/compositions.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { copyOf, copyVoucher } from "./fixtures.ts";
import { describeMachine } from "./machine.ts";
import { openBenchDatabase } from "./postgres.ts";
import { count, table } from "./table.ts";

/** How long lists of a project with many rows take (README.md#lists). */
const { values: options } = parseArgs({
  options: {
    /** Vouchers, customers, redemptions, orders and publications each, and as many loyalty cards. */
    rows: { type: "string", default: "1000000" },
    /** Requests of each kind, of which the fastest counts. */
    times: { type: "string", default: "3" },
  },
});
const ROWS = Number(options.rows);
const TIMES = Number(options.times);

const folder = await mkdtemp(path.join(tmpdir(), "scrip-lists-"));
try {
  await using postgres = await openBenchDatabase(path.join(folder, "postgres"));
  const url = await postgres.create("lists");
  await using stack = await startComposition("standalone", {
    database: { url, [Symbol.asyncDispose]: async () => {} },
  });
  const client = new Client({ connectionString: url });
  await client.connect();
  const api = await serverApi(stack);
  console.log(describeMachine());
  const paths = await createRows(api, client, url);
  const rows: string[][] = [];
  for (const each of paths) rows.push(await measure(api, each));
  await client.end();
  process.stdout.write(table(["request", "ms", "status", "total"], rows));
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** One of each resource over the API, and its copies by SQL. Returns the requests to measure. */
async function createRows(api: Api, client: Client, url: string): Promise<readonly string[]> {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 } };
  const campaign = await ok(
    api.post("/v1/campaigns", { name: "Large", campaign_type: "DISCOUNT_COUPONS", voucher }),
  );
  const { id: campaignId } = campaign;
  const code = "LARGE";
  const customer = { source_id: "ann" };
  await ok(api.post(`/v1/campaigns/${campaignId}/vouchers/${code}`, {}));
  await copyVoucher(url, { name: code, prefix: "0", copies: ROWS });
  const { id: customerId } = await ok(api.post("/v1/customers", { ...customer, name: "Ann" }));
  await ok(api.post("/v1/publications", { voucher: copyOf(code, 1), customer }));
  const redeemables = [{ object: "voucher", id: code }];
  await ok(api.post("/v1/redemptions", { redeemables, customer, order: { amount: 2_000 } }));
  const program = await createLoyaltyProgram(api, { points: 100 });
  const card = await program.createCard();
  await ok(api.post(`/v1/loyalties/members/${card.code}/balance`, { points: 10 }));
  // Without a holder: nobody has a million cards.
  await ok(api.post(`/v1/campaigns/${program.campaignId}/vouchers/CARD`, {}));
  await copyVoucher(url, { name: "CARD", prefix: "1", copies: ROWS });
  const cardId = "'v_1' || lpad(to_hex(number), 17, '0')";
  const later = "'created_at', original.created_at + number * interval '1 millisecond'";
  for (const [name, columns] of [
    ["loyalty.customer", `'source_id', number::text, ${later}`],
    ["voucher.redemption", later],
    ["validation.shop_order", `'source_id', number::text, ${later}`],
    ["voucher.publication", later],
    ["loyalty.loyalty_member", `'card_id', ${cardId}, 'customer_id', number::text`],
    ["loyalty.loyalty_card", `'id', ${cardId}`],
    ["loyalty.ledger_entry", `'card_id', ${cardId}, ${later}`],
  ] as const)
    await copyRow(client, name, columns);
  await client.query("vacuum analyze");
  return [
    "/v1/vouchers",
    "/v1/vouchers?page=99",
    "/v1/vouchers?order=code",
    `/v1/vouchers?campaign_id=${campaignId}`,
    `/v1/vouchers?filters[code][conditions][$is]=${copyOf(code, 777)}`,
    `/v1/vouchers?filters[code][conditions][$starts_with]=${copyOf(code, 77).slice(0, -2)}`,
    "/v1/vouchers?filters[redemption][conditions][$more_than]=0",
    `/v1/campaigns/${campaignId}/summary`,
    "/v1/customers",
    "/v1/customers?order=created_at",
    "/v1/redemptions",
    `/v1/redemptions?customer=${customerId}`,
    `/v1/redemptions?filters[voucher_code][conditions][$is]=${code}`,
    "/v1/redemptions?filters[campaign_name][conditions][$is]=Large",
    `/v1/vouchers/${code}/redemptions`,
    "/v1/orders",
    "/v1/publications",
    `/v1/publications?customer=${customerId}`,
    "/v1/publications?filters[related_object_id][conditions][$is]=v_1",
    `/v1/loyalties/${program.campaignId}/members`,
    `/v1/loyalties/${program.campaignId}/transactions`,
    `/v1/loyalties/${program.campaignId}/liability`,
  ];
}

/** Copies a row of a table `ROWS` times, with ids of their own; `columns` are the others that differ, for SQL. */
async function copyRow(client: Client, name: string, columns: string): Promise<void> {
  console.log(`copying a row of ${name} ${count(ROWS)} times`);
  await client.query(
    `insert into ${name}
     select copy.*
       from ${name} as original
      cross join generate_series(1, $1::int8) as number
      cross join lateral jsonb_populate_record(original, jsonb_build_object(
              'id', substring(to_jsonb(original) ->> 'id' from '^[a-z]+_') || '0' || lpad(to_hex(number), 17, '0')) ||
              jsonb_build_object(${columns})) as copy
      where (original.tableoid, original.ctid) = (select tableoid, ctid from ${name} limit 1)`,
    [ROWS],
  );
}

async function measure(api: Api, request: string): Promise<string[]> {
  let fastest = Infinity;
  let last = await api.get(request);
  for (let time = 0; time < TIMES; time += 1) {
    const startedAt = performance.now();
    last = await api.get(request);
    fastest = Math.min(fastest, performance.now() - startedAt);
  }
  const { total } = last.body;
  return [
    request.replaceAll(/(?:camp|cust)_\w+/g, "…"),
    fastest.toFixed(0),
    String(last.status),
    typeof total === "number" ? count(total) : "",
  ];
}
