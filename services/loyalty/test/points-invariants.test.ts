import { asAdmin } from "@scrip/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { chainLedger } from "../src/jobs/chain-ledger.ts";
import type { LedgerRecord } from "../src/ledger/ledger-records.ts";
import { createLedgerVerifier, type LedgerFault } from "../src/ledger/verify-ledger.ts";
import { SCHEMA } from "../src/service.ts";
import { readLedger } from "../src/store/ledger-records.ts";
import { holdIdOf, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;

/** A card with an entry of a redemption, an addition and a removal, a lot, a pending hold and a lock. */
async function newUsedCard() {
  const card = newLoyaltyCard(loyalty, 500n);
  await card.claim(holdIdOf(await card.hold(50n)), "r_1");
  await card.move({
    type: "POINTS_ADDITION",
    points: 20n,
    expiresOn: "2099-12-31",
    reason: "Wrocław “ü”",
    details: '{"order": {"id": "ord_1", "amount": 1.50}, "10": 1e21, "9": [null, true]}',
  });
  await card.move({ type: "POINTS_REMOVAL", points: 3n });
  await card.hold(50n);
  await card.lock("mine", 100n);
  return card;
}

const recordsOf = (projectId: string): Promise<readonly LedgerRecord[]> =>
  asAdmin(db.url, async (client) => {
    await client.query(`set search_path to ${SCHEMA}`);
    const connection = { query: (text: string, values?: unknown[]) => client.query(text, values) };
    return Array.fromAsync(readLedger(connection, { projectId }));
  });

/** What a verification of the stored ledger finds: the version of the entry, and what is wrong with it. */
async function faultsOf(projectId: string) {
  const verifier = createLedgerVerifier();
  const faults = (await recordsOf(projectId)).map(verifier.check);
  return [...faults, verifier.end()]
    .filter((fault): fault is LedgerFault => fault !== null)
    .map(({ entry, details }) => [entry?.version ?? null, details] as const);
}

describe("ledger entries", () => {
  test.each([
    "update ledger_entry set reason = 'other' where project_id = $1",
    "update ledger_entry set hash = null, previous_hash = null where project_id = $1",
    "delete from ledger_entry where project_id = $1",
  ])("are append-only for every user of the database: %s", async (change) => {
    const { projectId } = await newUsedCard();
    await expect(db.query(change, [projectId])).rejects.toThrow("ledger entries are append-only");
    await asAdmin(db.url, async (client) => {
      await client.query(`set search_path to ${SCHEMA}`);
      await expect(client.query(change, [projectId])).rejects.toThrow("append-only");
      await expect(client.query("truncate ledger_entry")).rejects.toThrow("append-only");
    });
    expect(await faultsOf(projectId)).toEqual([]);
  });
});

describe("with the trigger disabled", () => {
  beforeAll(() =>
    asAdmin(db.url, async (client) => {
      await client.query(`alter table ${SCHEMA}.ledger_entry disable trigger user`);
    }),
  );

  test.each([
    ["I1 cards", "update loyalty_card set held_points = 0 where project_id = $1"],
    ["I1 cards", "update points_spend set points = 7 where project_id = $1 and status = 'PENDING'"],
    [
      "I2 removed points",
      "update loyalty_card set subtracted_points = 4, points = points + 1 where project_id = $1",
    ],
    ["I2 removed points", "update ledger_entry set total_after = 1 where project_id = $1"],
    ["I3 lots", "update points_lot set points = 1 where project_id = $1"],
    ["I3 lots", "delete from points_lot where project_id = $1"],
    ["I3 lots", "update loyalty_card set next_expiring_points = 1 where project_id = $1"],
    ["I4 points", "update ledger_entry set balance_after = 1 where project_id = $1"],
    ["I4 points", "delete from ledger_entry where project_id = $1"],
    ["I5 redeemed points", "update ledger_entry set points = -1 where project_id = $1"],
    [
      "I7 points holds",
      "update ledger_entry set cause = 'ps_other' where project_id = $1 and type = 'POINTS_REDEMPTION'",
    ],
    ["I6 pending points", "update loyalty_card set pending_points = 1 where project_id = $1"],
    ["I1 locked points", "update points_lock set points = 418 where project_id = $1"],
  ])("loyaltyInvariants report a corruption that breaks %s", async (name, corruption) => {
    const card = await newUsedCard();
    expect(await card.violations()).toEqual([]);
    await db.query(corruption, [card.projectId]);
    expect(await card.violations(name)).not.toEqual([]);
  });

  test.each<readonly [change: string, version: bigint, details: string]>([
    ["points = 21", 2n, "has a balance of 470, after 450 and 21 points"],
    ["balance_after = 471", 2n, "has a balance of 471, after 450 and 20 points"],
    ["total_after = 521", 2n, "has a total of 521 instead of 520"],
    [`lots = '{"2099-12-31": -1}'`, 2n, "takes more points from the lot of 2099-12-31 than it has"],
    [`lots = '{"2099-12-31": 471}'`, 2n, "leaves 471 points in lots and a balance of 470"],
    ["version = 9", 3n, "follows entry 1: 2 is missing"],
    ["hash = null, previous_hash = null", 2n, "has no hash yet"],
    ["previous_hash = hash", 2n, "does not contain the hash of the entry before it"],
    ...["id", "cause", "source", "source_id", "reason", "related_id", "campaign_id"].map(
      (column) => [`${column} = 'other'`, 2n, "has the hash"] as const,
    ),
    ...["redemption_id", "rollback_id", "reward_id"].map(
      (column) => [`${column} = 'other'`, 2n, "has the hash"] as const,
    ),
    ["created_at = created_at - interval '1 day'", 2n, "has the hash"],
    [`details = details || '{"9": 0}'`, 2n, "has the hash"],
    ["type = 'POINTS_TRANSFER_IN'", 2n, "has the hash"],
  ])("a verification names the entry after the change %s", async (change, version, details) => {
    const { projectId } = await newUsedCard();
    expect(await faultsOf(projectId)).toEqual([]);
    const sql = `update ledger_entry set ${change} where project_id = $1 and version = 2`;
    await db.query(sql, [projectId]);
    expect(await faultsOf(projectId)).toEqual([[version, expect.stringContaining(details)]]);
  });

  test.each([
    ["points = points + 1, balance = balance + 1", "points: stored 521, computed 520"],
    ["ledger_hash = null", "the last hash: stored null"],
    ["pending_points = 1", "pending points: stored 1, computed 0"],
    ["next_expiring_points = 1", "points that expire next: stored 1, computed 17"],
  ])("a verification names the card after the change %s", async (change, details) => {
    const { projectId } = await newUsedCard();
    await db.query(`update loyalty_card set ${change} where project_id = $1`, [projectId]);
    expect(await faultsOf(projectId)).toEqual([[null, expect.stringContaining(details)]]);
  });

  test("a verification finds missing last entries, changed lots and entries without a card", async () => {
    const { projectId } = await newUsedCard();
    await db.query("update points_lot set points = 19 where project_id = $1", [projectId]);
    expect(await faultsOf(projectId)).toEqual([
      [null, "the lots: stored 2099-12-31: 19, computed 2099-12-31: 17"],
    ]);
    await db.query("delete from ledger_entry where project_id = $1 and version = 3", [projectId]);
    expect(await faultsOf(projectId)).toEqual([[null, "entries: stored 3, computed 2"]]);
    await db.query("delete from loyalty_card where project_id = $1", [projectId]);
    expect(await faultsOf(projectId)).toEqual([
      [1n, "belongs to no card"],
      [2n, "belongs to no card"],
    ]);
  });

  test("entries of earlier versions are chained by the job and by the next change of their card", async () => {
    const [job, change] = [await newUsedCard(), await newUsedCard()];
    const before = [await recordsOf(job.projectId), await recordsOf(change.projectId)];
    for (const { projectId } of [job, change]) {
      const values = [projectId];
      await db.query(
        "update ledger_entry set hash = null, previous_hash = null where project_id = $1",
        values,
      );
      // As a replica of the version before leaves a card: with a chain that ends too early.
      const ended = "update loyalty_card set ledger_hash = null, chained_version = 0";
      await db.query(`${ended} where project_id = $1`, values);
    }
    await change.move({ type: "POINTS_ADDITION", points: 1n });
    expect(await faultsOf(change.projectId)).toEqual([]);
    const options = {
      onError: (error: Error) => expect.unreachable(error.message),
      signal: new AbortController().signal,
    };
    await Promise.all([chainLedger(db, options), chainLedger(db, options)]);
    expect(await recordsOf(job.projectId)).toEqual(before[0]);
    const entries = (records: readonly LedgerRecord[] | undefined) =>
      records?.filter(({ record }) => record === "entry") ?? [];
    expect(entries(await recordsOf(change.projectId))).toMatchObject(
      // The same hashes as at first, and one entry more.
      [...entries(before[1]), { version: "4" }],
    );
  });
});
