import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Binding, jsonNameOf, ruleOf } from "@scrip/contract";

/** Where a value is in a JSON document. */
export type Place = readonly (string | number)[];

/** A field of a request or response, with the messages around it. */
export type FieldAt = {
  readonly place: Place;
  readonly field: DescField;
};

const MAX_DEPTH = 5;

/** The fields of a message and of the messages in it; lists have one item. */
export function fieldsIn(message: DescMessage, above: readonly DescMessage[] = []): FieldAt[] {
  if (above.length >= MAX_DEPTH || above.includes(message)) return [];
  return message.fields.filter(isPublic).flatMap((field) => {
    const place: Place = [jsonNameOf(field), ...(field.fieldKind === "list" ? [0] : [])];
    const inner = ownMessage(field);
    if (inner === undefined) return [{ place, field }];
    return fieldsIn(inner, [...above, message]).map((each) => ({
      ...each,
      place: [...place, ...each.place],
    }));
  });
}

/** The fields in the body of a route. */
export function bodyFields({ method, body, segments }: Binding): FieldAt[] {
  if (body === "none") return [];
  const inPath = new Set(segments.flatMap((each) => (each.kind === "field" ? [each.field] : [])));
  if (body === "all") return fieldsIn(method.input).filter(({ field }) => !inPath.has(field));
  const inner = ownMessage(body);
  if (inner === undefined) return [];
  const start: Place = body.fieldKind === "list" ? [0] : [];
  return fieldsIn(inner).map((each) => ({ ...each, place: [...start, ...each.place] }));
}

export const isString = (field: DescField): boolean =>
  (field.fieldKind === "scalar" || (field.fieldKind === "list" && field.listKind === "scalar")) &&
  field.scalar === ScalarType.STRING;

export const isPublic = (field: DescField): boolean =>
  !ruleOf(field).internal && field.name !== "update_mask";

/** The message of a field that is one of Scrip's own. */
export function ownMessage(field: DescField): DescMessage | undefined {
  const { message } = field;
  return field.fieldKind === "map" || message?.typeName.startsWith("scrip.") !== true
    ? undefined
    : message;
}

/** A copy with another value at one place, and with what is missing around it. */
export function withValue(value: unknown, [first, ...rest]: Place, text: unknown): unknown {
  if (first === undefined) return text;
  if (typeof first === "number") {
    const items = Array.isArray(value) ? (value as readonly unknown[]) : [];
    return [withValue(items[0], rest, text), ...items.slice(1)];
  }
  const object = isObject(value) ? value : {};
  return { ...object, [first]: withValue(object[first], rest, text) };
}

export function valueAt(value: unknown, place: Place): unknown {
  return place.reduce<unknown>(
    (inner, part) =>
      typeof inner === "object" && inner !== null
        ? (inner as Readonly<Record<string | number, unknown>>)[part]
        : undefined,
    value,
  );
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Where a document has strings. */
export function placesOfStrings(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value === "string") return [at];
  if (Array.isArray(value))
    return value.flatMap((each, index) => placesOfStrings(each, [...at, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => placesOfStrings(each, [...at, name]));
}
