import { republishSince } from "@scrip/events";
import { createDatabase } from "@scrip/postgres";
import { type Command, InvalidArgumentError } from "commander";

import { usageError } from "../cli-error.ts";
import type { Context } from "../context.ts";
import { openDatabases } from "../database.ts";
import { formatTable } from "../output.ts";
import { parseTime } from "../parse-time.ts";
import { loadServiceSchemas, type ServiceSchema } from "../services.ts";

type RepublishOptions = { readonly since: Date; readonly service?: string };

export function addEvents(program: Command, context: Context): void {
  program
    .command("events")
    .description("Events that the services publish.")
    .command("republish")
    .description(
      "Publish the events of the outboxes again, after the event log has lost them. Consumers ignore those that they have handled.",
    )
    .requiredOption("--since <time>", "from this time on, such as 2026-11-24T06:00:00Z", parseSince)
    .option("--service <name>", "only those of a service")
    .action((options: RepublishOptions) => republish(context, options));
}

async function republish(
  { settings, print, note }: Context,
  { since, service }: RepublishOptions,
): Promise<void> {
  const services = (await loadServiceSchemas()).filter(
    ({ name }) => service === undefined || name === service,
  );
  if (services.length === 0) throw usageError(`there is no service ${service}`);
  await using databases = await openDatabases(
    settings,
    services.map(({ schema }) => schema),
  );
  const republished: { readonly service: string; readonly from: string | null }[] = [];
  for (const each of services) {
    const url = databases.urlOf(each.schema);
    const from = await republishOutbox(url, each, since, (error) => note(error.message));
    if (from !== undefined)
      republished.push({ service: each.name, from: from?.toISOString() ?? null });
  }
  print({
    json: republished,
    text: formatTable(
      ["SERVICE", "FROM"],
      republished.map(({ service: name, from }) => [name, from ?? "no events"]),
    ),
  });
}

/** Undefined for a service without an outbox. */
async function republishOutbox(
  url: string,
  { schema, role }: ServiceSchema,
  since: Date,
  onError: (error: Error) => void,
): Promise<Date | null | undefined> {
  const db = createDatabase({ url, schema, role, poolSize: 1, onError });
  try {
    const { rows } = await db.query<{ publishes: boolean }>(
      "select to_regclass('outbox_position') is not null as publishes",
    );
    return rows[0]?.publishes === true ? await republishSince(db, since) : undefined;
  } finally {
    await db.close();
  }
}

function parseSince(text: string): Date {
  const time = parseTime(text);
  if (time === undefined || !/T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text))
    throw new InvalidArgumentError(
      "it must be a time with an offset, such as 2026-11-24T06:00:00Z",
    );
  return time;
}
