import { type Migration, readMigrations } from "@scrip/postgres";
import { Client } from "pg";

import type { ServiceSchema } from "./services.ts";

export type MigrationState = {
  readonly service: string;
  readonly migration: string;
  /** `changed`: the file differs from the applied one; `unknown`: the file does not exist here. */
  readonly state: "applied" | "pending" | "changed" | "unknown";
  readonly appliedAt: string | null;
};

type Applied = { readonly name: string; readonly sha256: string; readonly applied_at: Date };

export async function readMigrationStates(
  url: string,
  services: readonly ServiceSchema[],
): Promise<readonly MigrationState[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const states: MigrationState[] = [];
    for (const service of services) {
      const files = await readMigrations(service.migrations);
      states.push(...compare(service.name, files, await readApplied(client, service.schema)));
    }
    return states;
  } finally {
    await client.end();
  }
}

async function readApplied(client: Client, schema: string): Promise<readonly Applied[]> {
  const table = `${client.escapeIdentifier(schema)}.migration`;
  const { rows: found } = await client.query("select where to_regclass($1) is not null", [table]);
  // Before the first start there is no schema.
  if (found.length === 0) return [];
  const { rows } = await client.query<Applied>(`select name, sha256, applied_at from ${table}`);
  return rows;
}

function compare(
  service: string,
  files: readonly Migration[],
  applied: readonly Applied[],
): MigrationState[] {
  const known = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const rows = new Map(applied.map((row) => [row.name, row]));
  return [...new Set([...known.keys(), ...rows.keys()])].toSorted().map((migration) => ({
    service,
    migration,
    state: stateOf(known.get(migration), rows.get(migration)?.sha256),
    appliedAt: rows.get(migration)?.applied_at.toISOString() ?? null,
  }));
}

function stateOf(file: string | undefined, applied: string | undefined): MigrationState["state"] {
  if (applied === undefined) return "pending";
  if (file === undefined) return "unknown";
  return file === applied ? "applied" : "changed";
}
