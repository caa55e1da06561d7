import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, expect, test } from "vitest";

import { readTable } from "./table.ts";

const folder = await mkdtemp(path.join(tmpdir(), "scrip-table-"));
afterAll(() => rm(folder, { recursive: true }));
const file = path.join(folder, "customers.csv");

async function namesIn(encoding: "utf8" | "latin1"): Promise<readonly (string | undefined)[]> {
  await writeFile(file, "Source ID,Name\nann,Ann\njose,Jos\u00e9\n", encoding);
  const rows = await Array.fromAsync(readTable(file));
  return rows.map(({ cells }) => cells.get("name"));
}

test("reads text as UTF-8, and rejects other text with its row", async () => {
  expect(await namesIn("utf8")).toEqual(["Ann", "José"]);
  await expect(namesIn("latin1")).rejects.toThrow(`${file} cannot be read: row 2 is not UTF-8`);
});
