import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import {
  type DescField,
  type DescFile,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";

/** A message as a release publishes it. Never changed: the log of an installation holds such bytes. */
export type GoldenEvent = {
  readonly type: string;
  readonly version: number;
  readonly hex: string;
  readonly json: JsonObject;
};

const GOLDEN = new URL("golden-events.json", import.meta.url);
const GENERATED = new URL("../../proto/gen/scrip/events/v1/", import.meta.url);

export const readGoldenEvents = (): readonly GoldenEvent[] =>
  JSON.parse(readFileSync(GOLDEN, "utf8")) as GoldenEvent[];

/** All messages that events carry as their payload: those with a project. */
export async function eventSchemas(): Promise<readonly DescMessage[]> {
  const files = await Promise.all(
    readdirSync(GENERATED)
      .toSorted()
      .map(async (name) => {
        const module = (await import(fileURLToPath(new URL(name, GENERATED)))) as object;
        return Object.values(module).find(isFile);
      }),
  );
  return files
    .flatMap((file) => file?.messages ?? [])
    .filter(({ fields }) => fields.some(({ name }) => name === "project_id"));
}

const isFile = (value: unknown): value is DescFile =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "file";

/** Deeper messages are left empty: some contain themselves. */
const MAX_DEPTH = 3;

/** A message with a value in each field. */
function sampleOf({ typeName, fields, oneofs }: DescMessage, depth: number): JsonValue {
  if (typeName === "google.protobuf.Timestamp") return "2026-01-02T03:04:05.678Z";
  if (typeName === "google.protobuf.Struct") return { text: "ü", number: 1.5, list: [null, true] };
  if (depth > MAX_DEPTH) return {};
  // A real `oneof` has one value; that of an optional field is synthetic, and not listed.
  const alternatives = new Set(oneofs.flatMap((oneof) => oneof.fields.slice(1)));
  return Object.fromEntries(
    fields
      .filter((field) => !alternatives.has(field))
      .map((field) => [field.jsonName, valueOf(field, depth + 1)]),
  );
}

function valueOf(field: DescField, depth: number): JsonValue {
  switch (field.fieldKind) {
    case "list":
      return [single(field, field.listKind, depth)];
    case "map":
      return { key: single(field, field.mapKind, depth) };
    default:
      return single(field, field.fieldKind, depth);
  }
}

function single(field: DescField, kind: "scalar" | "enum" | "message", depth: number): JsonValue {
  if (kind === "message" && field.message !== undefined) return sampleOf(field.message, depth);
  if (kind === "enum") return field.enum?.values.at(-1)?.name ?? "";
  if (field.scalar === ScalarType.STRING) return field.name;
  if (field.scalar === ScalarType.BOOL) return true;
  if (field.scalar === ScalarType.BYTES) return Buffer.from(field.name).toString("base64");
  return field.number + 1_000_000;
}

/** Appends what is missing: a message that is new, or the next version of one (`<type> <version>`). */
async function main([type, version]: readonly string[]): Promise<void> {
  const golden = readGoldenEvents();
  const known = new Set(golden.map((event) => event.type));
  const missing = (await eventSchemas()).filter(({ typeName }) =>
    type === undefined ? !known.has(typeName) : typeName === type,
  );
  const added = missing.map((schema): GoldenEvent => {
    const message = fromJson(schema, sampleOf(schema, 0));
    return {
      type: schema.typeName,
      version: Number(version ?? 1),
      hex: Buffer.from(toBinary(schema, message)).toString("hex"),
      json: toJson(schema, message) as JsonObject,
    };
  });
  const lines = [...golden, ...added].map((event) => `  ${JSON.stringify(event)}`);
  writeFileSync(GOLDEN, `[\n${lines.join(",\n")}\n]\n`);
}

if (import.meta.main) await main(process.argv.slice(2));
