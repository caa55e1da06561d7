import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";

/**
 * The bytes of a message, with the entries of maps and structs in the order of their keys. Clients write them in any order,
 * and some in another one each time, so that a repeated request would look like another one.
 */
export const canonicalBytes = (desc: DescMessage, message: Message): Uint8Array =>
  toBinary(desc, withSortedMaps(desc, message as Fields));

type Fields = Message & Readonly<Record<string, unknown>>;

/** The message itself where nothing is to be sorted; a copy otherwise, since handlers get the message as it was sent. */
function withSortedMaps(desc: DescMessage, message: Fields): Fields {
  const changed: Record<string, unknown> = {};
  for (const field of sortableFieldsOf(desc)) {
    const group = field.oneof?.localName;
    if (group === undefined) {
      const value = message[field.localName];
      if (value !== undefined) changed[field.localName] = sortedValue(field, value);
      continue;
    }
    const held = message[group] as { readonly case?: string; readonly value?: unknown };
    if (held.case !== field.localName) continue;
    changed[group] = { case: held.case, value: sortedValue(field, held.value) };
  }
  return Object.keys(changed).length === 0 ? message : { ...message, ...changed };
}

function sortedValue(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") {
    return (value as readonly unknown[]).map((item) => sortedSingle(field, item));
  }
  if (field.fieldKind !== "map") return sortedSingle(field, value);
  return sortEntries(value as Readonly<Record<string, unknown>>, (each) =>
    sortedSingle(field, each),
  );
}

function sortedSingle({ message }: DescField, value: unknown): unknown {
  if (message === undefined) return value;
  if (message.typeName === StructSchema.typeName) return sortedJson(value as JsonObject);
  return withSortedMaps(message, value as Fields);
}

function sortedJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedJson);
  if (typeof value !== "object" || value === null) return value;
  return sortEntries(value, sortedJson) as JsonObject;
}

const sortEntries = <Value, Sorted>(
  entries: Readonly<Record<string, Value>>,
  sort: (value: Value) => Sorted,
): Record<string, Sorted> =>
  Object.fromEntries(
    Object.keys(entries)
      .toSorted()
      .map((key) => [key, sort(entries[key] as Value)]),
  );

const sortable = new Map<DescMessage, readonly DescField[]>();

/** The fields that hold maps or structs, themselves or below. */
function sortableFieldsOf(desc: DescMessage): readonly DescField[] {
  const known = sortable.get(desc);
  if (known !== undefined) return known;
  const fields = desc.fields.filter((field) => holdsMaps(field, new Set([desc])));
  sortable.set(desc, fields);
  return fields;
}

function holdsMaps({ fieldKind, message }: DescField, above: ReadonlySet<DescMessage>): boolean {
  if (fieldKind === "map" || message?.typeName === StructSchema.typeName) return true;
  if (message === undefined || above.has(message)) return false;
  return message.fields.some((field) => holdsMaps(field, new Set([...above, message])));
}
