import { OUTBOX_READER } from "@scrip/events";
import { migrate } from "@scrip/postgres";
import type { Command } from "commander";

import { CliError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { openDatabases } from "../database.ts";
import { type MigrationState, readMigrationStates } from "../migration-states.ts";
import { formatTable } from "../output.ts";
import { loadServiceSchemas, type ServiceSchema } from "../services.ts";

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
  const services = await loadServiceSchemas();
  await using databases = await openDatabases(context.settings, services.map(schemaOf));
  const applied = await migrateServices(context, { services, urlOf: databases.urlOf });
  context.print({
    json: applied,
    text:
      applied.length === 0
        ? "nothing to do: all migrations are applied"
        : applied.map(({ service, migration }) => `${service}: applied ${migration}`).join("\n"),
  });
}

type Applied = { readonly service: string; readonly migration: string };

const schemaOf = ({ schema }: ServiceSchema): string => schema;

async function migrateServices(
  context: Context,
  {
    services,
    urlOf,
  }: {
    readonly services: readonly ServiceSchema[];
    readonly urlOf: (schema: string) => string;
  },
): Promise<readonly Applied[]> {
  const states = await readMigrationStates(urlOf, services);
  const pending = states.filter(({ state }) => state === "pending").length;
  using progress = context.startProgress("migrations");
  const applied: Applied[] = [];
  for (const { name, schema, role, migrations } of services) {
    const files = await migrate({
      url: urlOf(schema),
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
  const services = await loadServiceSchemas();
  await using databases = await openDatabases(settings, services.map(schemaOf));
  const states = await readMigrationStates(databases.urlOf, services);
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
