import { mkdtempDisposable, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Client } from "pg";
import { afterAll, expect, test } from "vitest";

import { readSettings } from "../src/settings.ts";
import { scrip, startInstallation } from "./installation.ts";

const installation = await startInstallation();
const database = new Client({ connectionString: installation.databaseUrl });
await database.connect();
afterAll(async () => {
  await database.end();
  await installation[Symbol.asyncDispose]();
});
const { env, url } = installation;
const headers = await authenticate();

async function authenticate(): Promise<Record<string, string>> {
  const settings = await readSettings(env);
  return {
    "X-App-Id": settings.need("SCRIP_APP_ID"),
    "X-App-Token": settings.need("SCRIP_APP_TOKEN"),
    Authorization: `Bearer ${(await scrip(env, "token")).out.trim()}`,
    "Content-Type": "application/json",
  };
}

async function post(path: string, body: object, more: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as { id: string } };
}

async function createCoupon(code: string, quantity = 10): Promise<void> {
  const voucher = { code, type: "DISCOUNT_VOUCHER", redemption: { quantity } };
  const discount = { type: "PERCENT", percent_off: 10 };
  expect(await post("/v1/vouchers", { ...voucher, discount })).toMatchObject({ status: 200 });
}

async function createGift(code: string, amount: number): Promise<void> {
  const voucher = { code, type: "GIFT_VOUCHER", gift: { amount } };
  expect(await post("/v1/vouchers", voucher)).toMatchObject({ status: 200 });
}

const redeem = (code: string, body: object = {}, more: Record<string, string> = {}) =>
  post(`/v1/vouchers/${code}/redemption`, body, more);

const order = (amount: number) => ({ order: { amount } });
const usageOf = "(project_id, voucher_id) in (select project_id, id from voucher where code = $1)";

/** Ten minutes ago: old enough to expect its event. */
const OLD_REDEMPTION = `r_${(Date.now() - 600_000).toString(16).padStart(12, "0")}000000`;

test("finds no violation in a sound ledger, and each kind of fault", async () => {
  for (const gift of ["GIFT-1", "GIFT-2", "GIFT-3", "GIFT-4"]) {
    await createGift(gift, 5_000);
    expect(await redeem(gift, order(1_000))).toMatchObject({ status: 200 });
    expect(await redeem(gift, order(2_000))).toMatchObject({ status: 200 });
  }
  for (const coupon of ["COUNT", "LIMIT", "KEY", "ONCE"]) await createCoupon(coupon);
  const created = await redeem("KEY", order(700), { "Idempotency-Key": "one" });
  await redeem("KEY", order(700), { "Idempotency-Key": "one" });
  await redeem("LIMIT");
  await redeem("LIMIT", order(900));
  expect((await redeem("GIFT-1", { gift: { credits: 99_999 }, ...order(1) })).status).toBe(400);

  const sound = await scrip(env, "check-invariants", "--json");
  expect(sound).toMatchObject({ exitCode: 0, json: { violations: 0 } });
  expect((await scrip(env, "check-invariants")).out).toMatch(
    /ok +proj_\w+ +I1 quantity: 8 checked/,
  );

  await tamper(created.json.id);
  await using folder = await mkdtempDisposable(join(tmpdir(), "scrip-metrics-"));
  const textfile = join(folder.path, "scrip.prom");
  const broken = await scrip(env, "check-invariants", "--json", "--textfile", textfile);
  expect(broken).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("violations found"),
  });
  const details = broken.json.findings.flatMap(
    (finding: { invariant: string; violations: readonly { details: string }[] }) =>
      finding.violations.map((violation) => `${finding.invariant}: ${violation.details}`),
  );
  const expected = [
    "I1 quantity: counts 1 redemptions, has 0",
    "I1 quantity: counts 3 redemptions, has 0",
    "I1 quantity: was redeemed 2 times, allows 1",
    "I2 balance: holds 2000; 5005 less redemptions of 3000 is 2005",
    "I2 ledger: has an amount of 5005, its additions and removals are 5000",
    "I2 ledger: 1 entries are not numbered one after the other",
    "I2 ledger: 1 balances do not follow from the one before",
    "I2 spends: entry 2 of -1000: redemption r_none has none",
    "I3 vouchers: belongs to no voucher: v_none",
    `I4 stored responses: ${created.json.id} does not exist`,
    "I5 events: has no event in the outbox or the event log",
    expect.stringMatching(/^Orders: its document is order ord_/),
  ];
  expect(details).toEqual(expect.arrayContaining(expected));
  expect(details).toHaveLength(expected.length);

  const metrics = await readFile(textfile, "utf8");
  expect(metrics).toMatch(/^invariant_violations\{invariant="I1 quantity"\} 3$/m);
  expect(metrics).toMatch(/^invariant_violations\{invariant="I2 totals"\} 0$/m);
  expect(metrics).toMatch(/^invariants_checked_timestamp_seconds \d{10}$/m);
  expect(await readdir(folder.path)).toEqual(["scrip.prom"]);
});

test("compares the points ledger with the redemptions", async () => {
  const { json: campaign } = await post("/v1/campaigns", {
    name: "Points",
    campaign_type: "LOYALTY_PROGRAM",
    type: "AUTO_UPDATE",
    voucher: { type: "LOYALTY_CARD", loyalty_card: { points: 900 } },
  });
  const coin = { exchange_ratio: 1, points_ratio: 1 };
  const { json: reward } = await post("/v1/rewards", { type: "COIN", parameters: { coin } });
  await post(`/v1/rewards/${reward.id}/assignments`, { campaign: campaign.id });
  const customer = { source_id: "ann" };
  const { json: card } = await post(`/v1/loyalties/${campaign.id}/members`, { customer });
  const [other, stray, kept] = [
    await redeem(card.id, { customer, ...order(500), reward: { id: reward.id, points: 5 } }),
    await redeem(card.id, { customer, ...order(500), reward: { id: reward.id, points: 5 } }),
    await redeem(card.id, { customer, ...order(500), reward: { id: reward.id, points: 5 } }),
  ];
  expect([other.status, stray.status, kept.status]).toEqual([200, 200, 200]);
  const taken = async (): Promise<number> => {
    const sql =
      "select count(*)::int4 as count from loyalty.points_spend where status = 'CONFIRMED'";
    return (await database.query<{ count: number }>(sql)).rows[0]?.count ?? 0;
  };
  await expect.poll(taken, { timeout: 60_000 }).toBe(3);
  const found = async (): Promise<readonly string[]> => {
    const { json } = await scrip(env, "check-invariants", "--json");
    return json.findings.flatMap(
      (finding: { invariant: string; violations: readonly { details: string }[] }) =>
        finding.invariant === "I2 points" ? finding.violations.map(({ details }) => details) : [],
    );
  };
  expect(await found()).toEqual([]);
  await verifyLedgers(card.id);
  await database.query(
    `update voucher.redemption set points = jsonb_set(points, '{points}', '"4"') where id = $1`,
    [other.json.id],
  );
  await database.query("delete from voucher.redemption where id = $1", [stray.json.id]);
  expect(await found()).toEqual([
    `deducted 4 points of ${card.id}, but 5 of ${card.id} were held`,
    "was committed without a redemption",
  ]);
});

/** The ledger of a card with three redemptions, in the database and in a file. */
async function verifyLedgers(card: string): Promise<void> {
  const sound = { cards: 1, entries: 3, faults: 0, first: [] };
  for (const options of [[], ["--card", card]]) {
    const verified = await scrip(env, "ledger", "verify", "--json", ...options);
    expect(verified).toMatchObject({ exitCode: 0, json: sound });
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), "scrip-ledger-"));
  const file = join(folder.path, "ledger.ndjson");
  const exported = await scrip(env, "ledger", "export", file, "--json");
  expect(exported).toMatchObject({ exitCode: 0, json: { file, cards: 1, entries: 3 } });
  // Offline: without the environment of the installation.
  const offline = (...more: readonly string[]) =>
    scrip({ SCRIP_DATA_DIR: folder.path }, "ledger", "verify", "--file", file, ...more);
  expect(await offline("--json")).toMatchObject({ exitCode: 0, json: sound });
  const text = await readFile(file, "utf8");
  const lines = text.split("\n");
  const second = JSON.parse(lines[3] ?? "") as { readonly id: string };
  await writeFile(
    file,
    text.replaceAll('"reward_id":"rew_', '"reward_id":"rew_0').replace("rew_0", "rew_"),
  );
  expect(await offline()).toMatchObject({
    exitCode: 1,
    out: expect.stringContaining(`entry 2 (${second.id}): has the hash`),
  });
  await writeFile(file, lines.slice(0, -2).join("\n"));
  expect(await offline()).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("its last line is missing"),
  });
  await writeFile(file, lines.with(2, "damaged").join("\n"));
  expect(await offline()).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("ledger.ndjson:3 is not a record of a ledger"),
  });
  for (const [field, value] of Object.entries({
    points: "many",
    version: null,
    created_at: "now",
  })) {
    const damaged = JSON.stringify({ ...JSON.parse(lines[2] ?? ""), [field]: value });
    await writeFile(file, lines.with(2, damaged).join("\n"));
    expect(await offline()).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("ledger.ndjson:3 is not a record of a ledger"),
    });
  }
  for (const other of ["", "Code\n", "null\n", '{"record":"ledger","format":2}\n']) {
    await writeFile(file, other);
    expect(await offline()).toMatchObject({
      exitCode: 2,
      errors: `scrip: ${file} is not a ledger of format 1\n`,
    });
  }
  expect(await offline("--file", folder.path)).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining(`${folder.path} cannot be read: EISDIR`),
  });
  expect(await offline("--file", "/nonexistent")).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("/nonexistent cannot be read: ENOENT"),
  });
  expect(await scrip(env, "ledger", "verify", "--card", "none")).toMatchObject({ exitCode: 1 });
}

/**
 * The outbox as if the service had started a day earlier: it proves only events that are younger than its first
 * partition, which may have begun a minute ago.
 */
async function backdateOutbox(): Promise<void> {
  await database.query(
    `do $$
     declare
       first timestamptz = (select min(to_timestamp(right(relname, 10) || '+00', 'YYYYMMDDHH24TZH'))
                              from pg_class
                             where relnamespace = 'voucher'::regnamespace and relname ~ '^outbox_p[0-9]{10}$');
     begin
       execute format('create table voucher.outbox_day_before partition of voucher.outbox for values from (%L) to (%L)',
                      first - interval '1 day', first);
     end $$`,
  );
}

/** Writes what the service never does; its constraints are dropped first. */
async function tamper(redemption: string): Promise<void> {
  await backdateOutbox();
  await database.query("set search_path = voucher");
  for (const constraint of ["voucher_not_overused", "voucher_balance_adds_up"]) {
    await database.query(`alter table voucher_usage drop constraint ${constraint}`);
  }
  await database.query(`update voucher_usage set redeemed_quantity = 3 where ${usageOf}`, [
    "COUNT",
  ]);
  await database.query(`update voucher_usage set quantity = 1 where ${usageOf}`, ["LIMIT"]);
  await database.query(`update voucher_usage set amount = 5005 where ${usageOf}`, ["GIFT-1"]);
  const entry = "update voucher_ledger_entry set";
  await database.query(`${entry} version = 9 where version = 3 and ${usageOf}`, ["GIFT-2"]);
  await database.query(
    `${entry} balance_after = balance_after + 1 where version = 2 and ${usageOf}`,
    ["GIFT-3"],
  );
  await database.query(`${entry} redemption_id = 'r_none' where version = 2 and ${usageOf}`, [
    "GIFT-4",
  ]);
  await database.query("delete from redemption where id = $1", [redemption]);
  await database.query(
    `insert into redemption (project_id, id, voucher_id, created_at, status, channel_id,
                             channel_type, request_id)
     select project_id, $1, 'v_none', now(), 'SUCCEEDED', 'app', 'API', 'v-1' from voucher limit 1`,
    [OLD_REDEMPTION],
  );
  await database.query(
    `update validation.shop_order
        set document = (select document from validation.shop_order order by id desc limit 1)
      where id = (select id from validation.shop_order order by id limit 1)`,
  );
}
