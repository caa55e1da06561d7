import {
  type AppliedMigration,
  isCompatible,
  type Migration,
  readMigrations,
} from "@scrip/postgres";
import { Client } from "pg";

import type { ServiceSchema } from "./services.ts";

export type MigrationState = {
  readonly service: string;
  readonly migration: string;
  /**
   * `changed`: the file differs from the applied one; `later`: a later release has applied it; `unknown`: the file should
   * exist here, or this version is too old for the schema.
   */
  readonly state: "applied" | "pending" | "changed" | "later" | "unknown";
  readonly appliedAt: string | null;
};

type Applied = AppliedMigration & { readonly applied_at: Date };

export async function readMigrationStates(
  urlOf: (schema: string) => string,
  services: readonly ServiceSchema[],
): Promise<readonly MigrationState[]> {
  const states: MigrationState[] = [];
  for (const { name, schema, migrations } of services) {
    const files = await readMigrations(migrations);
    states.push(...compare(name, files, await readApplied(urlOf(schema), schema)));
  }
  return states;
}

async function readApplied(url: string, schema: string): Promise<readonly Applied[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const table = `${client.escapeIdentifier(schema)}.migration`;
    const { rows: found } = await client.query("select where to_regclass($1) is not null", [table]);
    // Before the first start there is no schema.
    if (found.length === 0) return [];
    // Earlier releases stored no marks.
    const { rows } = await client.query<Applied>(
      `select name, sha256, applied_at, to_jsonb(m) ->> 'contract' as contract from ${table} as m`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

function compare(
  service: string,
  files: readonly Migration[],
  applied: readonly Applied[],
): MigrationState[] {
  const known = new Map(files.map(({ name, sha256 }) => [name, sha256]));
  const lastKnown = files.at(-1)?.name ?? "";
  const rows = new Map(applied.map((row) => [row.name, row]));
  return [...new Set([...known.keys(), ...rows.keys()])].toSorted().map((migration) => ({
    service,
    migration,
    state: stateOf(known.get(migration), rows.get(migration), lastKnown),
    appliedAt: rows.get(migration)?.applied_at.toISOString() ?? null,
  }));
}

function stateOf(
  file: string | undefined,
  applied: Applied | undefined,
  lastKnown: string,
): MigrationState["state"] {
  if (applied === undefined) return "pending";
  if (file === undefined) return isCompatible(applied, lastKnown) ? "later" : "unknown";
  return file === applied.sha256 ? "applied" : "changed";
}
