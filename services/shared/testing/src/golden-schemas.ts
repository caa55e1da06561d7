import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

import { migrate } from "@scrip/postgres";

import { asAdmin } from "./admin.ts";
import { describeDifference } from "./difference.ts";
import { dumpSchema } from "./dump-schema.ts";
import { findMigratedParts, type MigratedPart } from "./migrated-parts.ts";
import { startTestPostgres } from "./test-postgres.ts";

/**
 * Writes `schema.sql` beside the migrations of each part: the resulting schema, for readers and
 * reviewers. With `--check` it writes nothing, and a difference is a failure.
 */
async function main(): Promise<void> {
  const isCheck = process.argv.includes("--check");
  const stale: string[] = [];
  await using server = await startTestPostgres();
  for (const part of await findMigratedParts()) {
    const file = path.join(part.folder, "../schema.sql");
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

const ROOT = path.join(import.meta.dirname, "../../../..");

async function schemaOf(adminUrl: string, part: MigratedPart): Promise<string> {
  const database = `golden_${part.schema}_${process.pid}`;
  const url = Object.assign(new URL(adminUrl), { pathname: `/${database}` }).href;
  await asAdmin(adminUrl, (client) => client.query(`create database ${database}`));
  try {
    await migrate({ url, ...part });
    return await asAdmin(url, (client) => dumpSchema(client, part.schema));
  } finally {
    await asAdmin(adminUrl, (client) => client.query(`drop database ${database} with (force)`));
  }
}

await main();
