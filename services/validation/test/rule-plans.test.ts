import { entriesRead, testDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { findAssignmentsOfObjects } from "../src/store/rule-assignments.ts";
import { findRuleContents } from "../src/store/validation-rules.ts";

// Plans belong to a connection, so there is one.
const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS, poolSize: 1 });
afterAll(() => db[Symbol.asyncDispose]());

const ROWS = 3_000;
const SOME = [1, 2, 3, 4, 5];
const keysOf = (prefix: string) =>
  SOME.map((n) => ({ projectId: "proj_1", key: `${prefix}_${n}` }));

const lookups = {
  validation_rule: () => findRuleContents(db, keysOf("val")),
  validation_rule_assignment: () => findAssignmentsOfObjects(db, keysOf("v")),
};

test("rules and assignments are looked up by their keys, also by plans made for empty tables", async () => {
  // As a session does in its first minutes: a plan of a prepared statement is kept from the sixth on.
  for (let run = 0; run < 10; run += 1) for (const lookup of Object.values(lookups)) await lookup();
  await db.query(
    `insert into validation_rule (project_id, id, name, type, context_type, rules, created_at)
     select 'proj_1', 'val_' || n, 'rule', 'expression', 'global', '{}', now()
       from generate_series(1, ${ROWS}) n`,
  );
  await db.query(
    `insert into validation_rule_assignment (project_id, id, rule_id, object_type, object_id, created_at)
     select 'proj_1', 'asgm_' || n, 'val_' || n, 'voucher', 'v_' || n, now()
       from generate_series(1, ${ROWS}) n`,
  );
  for (const [table, lookup] of Object.entries(lookups)) {
    const before = await entriesRead(db, table);
    for (let run = 0; run < 10; run += 1) await lookup();
    const read = (await entriesRead(db, table)) - before;
    expect(read, table).toBeLessThanOrEqual(10 * SOME.length);
  }
});
