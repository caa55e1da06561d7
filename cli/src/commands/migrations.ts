import { OUTBOX_READER } from "@scrip/events";
import { migrate } from "@scrip/postgres";
import type { Command } from "commander";

import { CliError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { openDatabase } from "../database.ts";
import { type MigrationState, readMigrationStates } from "../migration-states.ts";
import { formatTable } from "../output.ts";
import { loadServiceSchemas } from "../services.ts";

export function addMigrations(program: Command, context: Context): void {
  program
    .command("migrate")
    .description("Apply the migrations of all services to the database.")
    .action(() => applyMigrations(context));
  program
    .command("migrations")
    .description("List migrations and their state; exit code 1 when an applied one has changed.")
    .action(() => showMigrations(context));
}

async function applyMigrations(context: Context): Promise<void> {
  await using database = await openDatabase(context.settings);
  const applied = await migrateServices(context, database.url);
  context.print({
    json: applied,
    text:
      applied.length === 0
        ? "nothing to do: all migrations are applied"
        : applied.map(({ service, migration }) => `${service}: applied ${migration}`).join("\n"),
  });
}

type Applied = { readonly service: string; readonly migration: string };

async function migrateServices(context: Context, url: string): Promise<readonly Applied[]> {
  const services = await loadServiceSchemas();
  const states = await readMigrationStates(url, services);
  const pending = states.filter(({ state }) => state === "pending").length;
  using progress = context.startProgress("migrations");
  const applied: Applied[] = [];
  for (const { name, schema, role, migrations } of services) {
    const files = await migrate({
      url,
      schema,
      role,
      folder: migrations,
      reader: OUTBOX_READER,
    });
    applied.push(...files.map((migration) => ({ service: name, migration })));
    progress.update(applied.length, pending);
  }
  return applied;
}

async function showMigrations({ settings, print }: Context): Promise<void> {
  await using database = await openDatabase(settings);
  const states = await readMigrationStates(database.url, await loadServiceSchemas());
  print({
    json: states,
    text: formatTable(
      ["SERVICE", "MIGRATION", "STATE", "APPLIED"],
      states.map(({ service, migration, state, appliedAt }) => [
        service,
        migration,
        state,
        appliedAt,
      ]),
    ),
  });
  const mismatches = states.filter(({ state }) => MISMATCHES.has(state));
  if (mismatches.length > 0) {
    const names = mismatches.map(
      ({ service, migration, state }) => `${service}/${migration} (${state})`,
    );
    throw new CliError(
      `the migrations of the database do not match this version: ${names.join(", ")}`,
    );
  }
}

const MISMATCHES: ReadonlySet<MigrationState["state"]> = new Set(["changed", "unknown"]);
