import { createDatabase, type Database } from "@scrip/postgres";
import { asAdmin, emptyDatabase } from "@scrip/testing";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

import { bindDatabase } from "../src/bound-database.ts";

let parts: AsyncDisposableStack;
let db: Database;

beforeAll(async () => {
  await using made = new AsyncDisposableStack();
  const { url } = made.use(await emptyDatabase());
  const role = await asAdmin(url, async (client) => {
    const { rows } = await client
      .query<{ role: string }>(`create schema bound; create table bound.note (id int primary key)`)
      .then(() => client.query<{ role: string }>("select current_user as role"));
    return rows[0]!.role;
  });
  db = createDatabase({ url, schema: "bound", role, poolSize: 2, onError: () => {} });
  made.defer(() => db.close());
  parts = made.move();
});
afterAll(() => parts.disposeAsync());
beforeEach(() => db.query("truncate note"));

async function notes(): Promise<readonly number[]> {
  const { rows } = await db.query<{ id: number }>("select id from note order by id");
  return rows.map(({ id }) => id);
}

test("a part that fails leaves those before and after it", async () => {
  await db.transaction(async (tx) => {
    const bound = bindDatabase(tx, db);
    await bound.transaction((part) => part.query("insert into note values (1)"));
    const failing = bound.transaction(async (part) => {
      await part.query("insert into note values (2)");
      await part.query("insert into note values (1)");
    });
    await expect(failing).rejects.toMatchObject({ code: "23505" });
    await expect(bound.query("select 1 / 0")).rejects.toMatchObject({ code: "22012" });
    await bound.query("insert into note values (3)");
  });
  expect(await notes()).toEqual([1, 3]);
});

test("nothing is committed after a part that ignored the failure of a statement", async () => {
  const lost = db.transaction(async (tx) => {
    const bound = bindDatabase(tx, db);
    await bound.transaction(async (part) => {
      await part.query("insert into note values (1)");
      part.query("select 1 / 0").catch(() => {});
    });
    // Handled like the failure of this part alone.
    await bound.query("insert into note values (2)").catch(() => {});
    await bound.query("insert into note values (3)").catch(() => {});
  });
  await expect(lost).rejects.toThrow("the failure of a statement was ignored");
  expect(await notes()).toEqual([]);
});
