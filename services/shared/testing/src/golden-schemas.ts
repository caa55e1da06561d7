import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { migrate } from "@scrip/postgres";

import { asAdmin } from "./admin.ts";
import { describeDifference } from "./difference.ts";
import { dumpSchema } from "./dump-schema.ts";
import { startTestPostgres } from "./test-postgres.ts";

/**
 * Writes `schema.sql` beside the migrations of each part: the resulting schema, for readers and
 * reviewers. With `--check` it writes nothing, and a difference is a failure.
 */
async function main(): Promise<void> {
  const isCheck = process.argv.includes("--check");
  const stale: string[] = [];
  await using server = await startTestPostgres();
  for (const part of await findParts()) {
    const file = path.join(part.folder, "schema.sql");
    const found = await readFile(file, "utf8").catch(() => "");
    const schema = await schemaOf(server.url, part);
    if (schema === found) continue;
    if (isCheck) {
      stale.push(`${path.relative(ROOT, file)}\n${describeDifference(found, schema)}`);
    } else {
      await writeFile(file, schema);
      console.log(`wrote ${path.relative(ROOT, file)}`);
    }
  }
  if (stale.length === 0) return;
  console.error(`${stale.join("\n\n")}\n\nTo write them anew: ${COMMAND}`);
  process.exitCode = 1;
}

const COMMAND = "node scripts/run.mjs node services/shared/testing/src/golden-schemas.ts";

type Part = { readonly name: string; readonly folder: string };

const ROOT = path.join(import.meta.dirname, "../../../..");

/** Every folder with migrations. */
async function findParts(): Promise<readonly Part[]> {
  const folders = ["gateway", ...(await under("services")), ...(await under("services/shared"))];
  const parts: Part[] = [];
  for (const folder of folders) {
    if (existsSync(path.join(ROOT, folder, "migrations"))) {
      parts.push({ name: path.basename(folder), folder: path.join(ROOT, folder) });
    }
  }
  return parts;
}

async function under(folder: string): Promise<readonly string[]> {
  const entries = await readdir(path.join(ROOT, folder), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${folder}/${entry.name}`)
    .toSorted();
}

async function schemaOf(adminUrl: string, { name, folder }: Part): Promise<string> {
  const database = `golden_${name}_${process.pid}`;
  const url = Object.assign(new URL(adminUrl), { pathname: `/${database}` }).href;
  await asAdmin(adminUrl, (client) => client.query(`create database ${database}`));
  try {
    await migrate({
      url,
      schema: name,
      role: `scrip_${name}`,
      folder: path.join(folder, "migrations"),
    });
    return await asAdmin(url, (client) => dumpSchema(client, name));
  } finally {
    await asAdmin(adminUrl, (client) => client.query(`drop database ${database} with (force)`));
  }
}

await main();
