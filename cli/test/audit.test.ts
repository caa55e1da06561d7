import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { scrip, startInstallation } from "./installation.ts";

const installation = await startInstallation();
afterAll(() => installation[Symbol.asyncDispose]());
const { env, databaseUrl } = installation;

const sql = (text: string, values: unknown[] = []) =>
  asAdmin(databaseUrl, async (client) => (await client.query(text, values)).rows);

test("audit verify names the first wrong entry, and entries missing compared with a file of chain ends", async () => {
  const created = await scrip(env, "projects", "create", "--name", "Audited", "--json");
  const project: string = created.json.id;
  for (const name of ["One", "Two", "Three"]) {
    expect((await scrip(env, "projects", "update", project, "--name", name)).exitCode).toBe(0);
  }
  const entries = () =>
    sql('select id, hash from "export".audit_entry where project_id = $1 order by position', [
      project,
    ]);
  await expect.poll(entries).toHaveLength(4);
  const stored = await entries();
  const verify = (...options: readonly string[]) => scrip(env, "audit", "verify", ...options);
  expect(await verify("--json")).toMatchObject({
    exitCode: 0,
    json: { unchained: 0, faults: 0, first: [] },
  });
  expect((await verify("--project", project)).out).toBe("1 projects with 4 entries: no fault\n");

  await using folder = await mkdtempDisposable(join(tmpdir(), "scrip-audit-"));
  const file = join(folder.path, "ends.ndjson");
  expect((await scrip(env, "audit", "ends", file)).out).toMatch(/^wrote the ends of \d+ chains to/);
  expect((await verify("--ends", file)).exitCode).toBe(0);

  // The last entry disappears together with the end of its chain.
  const [third, last] = stored.slice(-2);
  await sql('delete from "export".audit_entry where id = $1', [last.id]);
  await sql(
    'update "export".audit_day set entries = entries - 1, last_hash = $2 where project_id = $1',
    [project, third.hash],
  );
  expect((await verify()).exitCode).toBe(0);
  const missing = await verify("--ends", file);
  expect(missing.exitCode).toBe(1);
  expect(missing.out).toMatch(
    new RegExp(`^FAIL  ${project}  [\\d-]{10}: entry 4 is missing or was changed`, "m"),
  );
  await sql(`update "export".audit_entry set actor_id = 'nobody' where id = $1`, [third.id]);
  const wrong = await verify("--json");
  expect(wrong).toMatchObject({
    exitCode: 1,
    json: { faults: 1, first: [{ projectId: project, entryId: third.id }] },
  });

  await writeFile(file, `${await readFile(file, "utf8")}{}\n`);
  expect(await verify("--ends", file)).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("is not the end of a chain"),
  });
  expect((await verify("--ends", folder.path)).exitCode).toBe(2);
  for (const text of ["yesterday", "2026-02-31", "2026-1-1"]) {
    expect(await verify("--since", text)).toMatchObject({
      exitCode: 2,
      errors: `scrip: --since ${text} is not a date\n`,
    });
  }
});
