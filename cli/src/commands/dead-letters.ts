import { fromBinary, toJson } from "@bufbuild/protobuf";
import {
  createEventBus,
  type DeadLetter,
  type DeadLetterFilter,
  EVENTS_SCHEMA,
  type EventBus,
  readKafkaConnection,
} from "@scrip/events";
import { type Command, InvalidArgumentError, Option } from "commander";

import { CliError, usageError } from "../cli-error.ts";
import { CONSUMER_GROUPS } from "../consumer-groups.ts";
import type { Context } from "../context.ts";
import { openDatabases } from "../database.ts";
import { eventMessages } from "../event-messages.ts";
import { countOf, formatFields, formatTable } from "../output.ts";

const MAX_LISTED = 1_000;
const CLOSE_MS = 5_000;
const ID = /^(?<group>[^/]+)\/(?<topic>[^/]+)\/(?<partition>\d{1,4})\/(?<offset>\d{1,18})$/;

type ListOptions = { readonly group?: string; readonly limit: number };
type ReplayOptions = { readonly group?: string };

export function addDeadLetters(program: Command, context: Context): void {
  const letters = program
    .command("dead-letters")
    .description("Events that a consumer could not handle.");
  letters
    .command("list")
    .description("List dead letters, oldest first.")
    .addOption(groupOption("only those of a consumer group"))
    .option("--limit <count>", `at most so many, up to ${MAX_LISTED}`, parseLimit, 100)
    .action((options: ListOptions) => listLetters(context, options));
  letters
    .command("show")
    .description("Show a dead letter: its error and the content of its event.")
    .argument("<id>", "as listed: group/topic/partition/offset")
    .action((id: string) => showLetter(context, id));
  letters
    .command("replay")
    .description("Publish dead letters again, once their cause is fixed, and remove them.")
    .argument("[ids...]", "as listed: group/topic/partition/offset")
    .addOption(groupOption(`the oldest ${MAX_LISTED} of a consumer group`))
    .action((ids: string[], options: ReplayOptions) => replayLetters(context, ids, options));
}

/** An unknown group would look like one without dead letters. */
const groupOption = (description: string): Option =>
  new Option("--group <group>", description).choices(CONSUMER_GROUPS);

async function listLetters(context: Context, { group, limit }: ListOptions): Promise<void> {
  const letters = await withBus(context, (bus) =>
    bus.deadLetters(group === undefined ? {} : { group }, limit),
  );
  context.print({
    json: letters.map(describeLetter),
    text: formatTable(
      ["ID", "TYPE", "KEY", "SINCE", "ERROR"],
      letters.map((letter) => [
        idOf(letter),
        letter.event.type ?? null,
        letter.event.key,
        letter.buriedAt.toISOString(),
        letter.error.split("\n")[0] ?? "",
      ]),
    ),
  });
}

async function showLetter(context: Context, id: string): Promise<void> {
  const letter = await withBus(context, (bus) => findLetter(bus, id));
  const shown = { ...describeLetter(letter), message: contentOf(letter) };
  context.print({ json: shown, text: formatFields(shown) });
}

async function replayLetters(
  context: Context,
  ids: readonly string[],
  { group }: ReplayOptions,
): Promise<void> {
  if ((ids.length === 0) === (group === undefined))
    throw usageError("provide either ids of dead letters or --group");
  const replayed = await withBus(context, async (bus) => {
    const letters =
      group === undefined
        ? await Promise.all(ids.map((id) => findLetter(bus, id)))
        : await bus.deadLetters({ group }, MAX_LISTED);
    // One after the other: those of a key keep their order.
    for (const letter of letters) await bus.replay(letter);
    return letters.map(idOf);
  });
  context.print({
    json: { replayed },
    text: `replayed ${countOf(replayed.length, "dead letter")}`,
  });
}

async function withBus<Result>(
  { settings, note }: Context,
  work: (bus: EventBus) => Promise<Result>,
): Promise<Result> {
  await using databases = await openDatabases(settings, [EVENTS_SCHEMA]);
  const bus = await createEventBus({
    kafka: readKafkaConnection(
      Object.fromEntries(KAFKA_VARIABLES.map((name) => [name, settings.read(name)])),
    ),
    url: databases.urlOf(EVENTS_SCHEMA),
    onError: (error) => note(error.message),
  });
  try {
    return await work(bus);
  } finally {
    await bus.close(CLOSE_MS);
  }
}

const KAFKA_VARIABLES = [
  "SCRIP_KAFKA_BROKERS",
  "SCRIP_KAFKA_TLS",
  "SCRIP_KAFKA_SASL_MECHANISM",
  "SCRIP_KAFKA_USERNAME",
  "SCRIP_KAFKA_PASSWORD",
  "SCRIP_KAFKA_EPOCH",
];

async function findLetter(bus: EventBus, id: string): Promise<DeadLetter> {
  const [letter] = await bus.deadLetters(filterOf(id), 1);
  if (letter === undefined) throw new CliError(`there is no dead letter ${id}`);
  return letter;
}

function filterOf(id: string): DeadLetterFilter {
  const { group = "", topic = "", partition, offset = "" } = ID.exec(id)?.groups ?? {};
  if (partition === undefined)
    throw usageError(`"${id}" is not the id of a dead letter: group/topic/partition/offset`);
  return { group, topic, partition: Number(partition), offset: BigInt(offset) };
}

const idOf = ({ group, event }: DeadLetter): string =>
  `${group}/${event.topic}/${event.partition}/${event.offset}`;

const describeLetter = (letter: DeadLetter) => ({
  id: idOf(letter),
  group: letter.group,
  topic: letter.event.topic,
  type: letter.event.type ?? null,
  project: letter.event.projectId,
  key: letter.event.key,
  event_id: letter.event.id,
  occurred_at: letter.event.occurredAt.toISOString(),
  buried_at: letter.buriedAt.toISOString(),
  attempts: letter.attempts,
  error: letter.error,
});

/** The content of the event as JSON, or its bytes in base64 where they are not a known message. */
function contentOf({ event }: DeadLetter): unknown {
  const schema = event.type === undefined ? undefined : eventMessages.getMessage(event.type);
  try {
    if (schema !== undefined)
      return toJson(schema, fromBinary(schema, event.payload), { registry: eventMessages });
  } catch {
    // A damaged message, which may be why it is a dead letter.
  }
  return { base64: Buffer.from(event.payload).toString("base64") };
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED)
    throw new InvalidArgumentError(`it must be an integer from 1 to ${MAX_LISTED}`);
  return limit;
}
