import { asAdmin, pagesRead, testDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { findAssignmentsOfObjects } from "../src/store/rule-assignments.ts";
import { findRuleContents } from "../src/store/validation-rules.ts";

const ROWS = 20_000;
const FEW_ROWS = 60;
const TABLES = ["validation_rule_assignment", "validation_rule"];
const NAMES = Array.from({ length: 200 }, (_, index) => index * 97 + 1);
/** Entries read per name: one index descent, the row, and a margin. */
const MOST_PAGES = 12;

const keysOf = (prefix: string) =>
  NAMES.map((n) => ({ projectId: "proj_1", key: `${prefix}_${n}` }));

test.each(["never analysed", "analysed while they were empty", "analysed while they were small"])(
  "rules and assignments are looked up by their keys, even with plans cached for tables %s",
  async (state) => {
    // Plans belong to a connection, so the pool has one.
    await using db = await testDatabase({
      schema: SCHEMA,
      role: ROLE,
      folder: MIGRATIONS,
      poolSize: 1,
    });
    const lookups = {
      rules: () => findRuleContents(db, keysOf("val")),
      assignments: () => findAssignmentsOfObjects(db, keysOf("v")),
    };
    await asAdmin(db.url, async (admin) => {
      const eachTable = async (statementOf: (table: string) => string) => {
        for (const table of TABLES) await admin.query(statementOf(`${SCHEMA}.${table}`));
      };
      const fill = async (rows: number) => {
        await admin.query(
          `insert into validation.validation_rule
                  (project_id, id, name, type, context_type, rules, created_at)
           select 'proj_1', 'val_' || n, 'rule', 'expression', 'global', '{}', now()
             from generate_series(1, ${rows}) n`,
        );
        await admin.query(
          `insert into validation.validation_rule_assignment
                  (project_id, id, rule_id, object_type, object_id, created_at)
           select 'proj_1', 'asgm_' || n, 'val_' || n, 'voucher', 'v_' || n, now()
             from generate_series(1, ${rows}) n`,
        );
      };
      // Prevents autovacuum from analysing the tables.
      await eachTable((table) => `alter table ${table} set (autovacuum_enabled = false)`);
      if (state === "analysed while they were small") await fill(FEW_ROWS);
      if (state !== "never analysed") await eachTable((table) => `analyze ${table}`);
      await eachTable((table) => `delete from ${table}`);
      // Postgres keeps a generic plan from the sixth execution on.
      for (let run = 0; run < 8; run += 1)
        for (const lookup of Object.values(lookups)) await lookup();
      await fill(ROWS);
    });
    for (const [name, lookup] of Object.entries(lookups)) {
      const before = await pagesRead(db);
      await lookup();
      const each = ((await pagesRead(db)) - before) / NAMES.length;
      expect(each, name).toBeLessThanOrEqual(MOST_PAGES);
    }
  },
);
