import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { packBytes, type Queryable, type Statement, unpackBytes } from "@scrip/postgres";
import { RollbackOutcomeSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { SCHEMA } from "../src/service.ts";
import { eraseRollbackResponses } from "../src/store/erased-rollbacks.ts";
import { startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const { db, projectId } = service;

/** Responses to redemptions before, between and after those to rollbacks. */
const REDEMPTIONS = 40_000;
const MOST_READ = 2_000;

const outcomeOf = (customerId: string) =>
  create(RollbackOutcomeSchema, {
    outcome: { case: "committed", value: { rollbacks: [{ id: "rr_1", customerId }] } },
  });

const storeRollback = (key: string, customerId: string) =>
  db.query(
    "insert into idempotency (project_id, key, request_hash, outcome, kind) values ($1, $2, 'hash', $3, 'rollback')",
    [projectId, key, packBytes(toBinary(RollbackOutcomeSchema, outcomeOf(customerId)))],
  );

async function customerOf(key: string): Promise<string | undefined> {
  const { rows } = await db.query<{ outcome: Buffer }>(
    "select outcome from idempotency where project_id = $1 and key = $2",
    [projectId, key],
  );
  const { outcome } = fromBinary(
    RollbackOutcomeSchema,
    unpackBytes(rows[0]?.outcome ?? Buffer.alloc(0)),
  );
  if (outcome.case !== "committed") throw new Error(`${key} is not committed`);
  return outcome.value.rollbacks[0]?.customerId;
}

test("erases a customer from few rollbacks among many responses, of which each statement reads a bounded number", async () => {
  await db.query(
    `insert into idempotency (project_id, key, request_hash, outcome)
     select $1, 'key' || n, 'hash', 'outcome' from generate_series(1, ${REDEMPTIONS}) n`,
    [projectId],
  );
  await storeRollback("key20000a", "cust_gone");
  await storeRollback("key20000b", "cust_other");
  await storeRollback("z", "cust_gone");
  // As autovacuum does once a project has many responses.
  await asAdmin(db.url, (client) => client.query(`analyze ${SCHEMA}.idempotency_default`));
  const read: number[] = [];
  const observed: Queryable = {
    async query(statement, values) {
      const one =
        typeof statement === "string" ? { text: statement, values: values ?? [] } : statement;
      if (!one.text.startsWith("update")) read.push(await rowsRead(one));
      return db.query(statement, values);
    },
  };
  await eraseRollbackResponses(observed, { projectId, customerId: "cust_gone" });
  expect(await customerOf("key20000a")).toBeUndefined();
  expect(await customerOf("key20000b")).toBe("cust_other");
  expect(await customerOf("z")).toBeUndefined();
  // A chunk is read twice: its keys, and the rollbacks among them. Partitions are read ahead by a few rows.
  expect(Math.max(...read)).toBeLessThan(3 * MOST_READ);
});

type Plan = {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
};

/** Number of rows that the scans of a statement read. */
async function rowsRead(statement: Statement): Promise<number> {
  const { rows } = await db.query<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>({
    ...statement,
    text: `explain (analyze, format json) ${statement.text}`,
  });
  const plan = rows[0]?.["QUERY PLAN"][0]?.Plan;
  return plan === undefined ? 0 : readBy(plan);
}

const SCANS = /^(?:Seq|Index|Index Only|Bitmap Heap) Scan$/;

const readBy = (plan: Plan): number =>
  (SCANS.test(plan["Node Type"])
    ? plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)
    : 0) + (plan.Plans ?? []).reduce((sum, each) => sum + readBy(each), 0);
