import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { Definition, MetadataSchema } from "./metadata-types.ts";
import { isSame, lengthOf, rankOf, typeFaultOf } from "./metadata-value.ts";

/** The metadata schemas of a project, by related object. */
export type Schemas = ReadonlyMap<string, Pick<MetadataSchema, "properties" | "allowDefinedOnly">>;

export type Submission = {
  /** Undefined when `metadata` was not sent. */
  readonly metadata: JsonObject | undefined;
  /** Whether required keys must be present; otherwise only the keys that were sent are checked. */
  readonly isComplete: boolean;
};

/** Describes every violation; empty where the resource has no schema. */
export function metadataFaults(
  schemas: Schemas,
  resource: string,
  { metadata = {}, isComplete }: Submission,
): readonly string[] {
  const schema = schemas.get(resource);
  return schema === undefined
    ? []
    : objectFaults(schema, metadata, { schemas, isComplete, path: "" });
}

type Place = { readonly schemas: Schemas; readonly isComplete: boolean; readonly path: string };

function objectFaults(
  { properties, allowDefinedOnly }: Pick<MetadataSchema, "properties" | "allowDefinedOnly">,
  object: JsonObject,
  place: Place,
): readonly string[] {
  const live = Object.entries(properties).filter(([, { deleted }]) => !deleted);
  const faults = live.flatMap(([key, definition]) => {
    const path = place.path + key;
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value !== undefined && value !== null) {
      return valueFaults(definition, value, { ...place, path });
    }
    const isDemanded = place.isComplete || value === null;
    return isDemanded && !definition.optional ? [`${path}: must be present`] : [];
  });
  if (!allowDefinedOnly) return faults;
  const defined = new Set(live.map(([key]) => key));
  const unknown = Object.keys(object).filter((key) => !defined.has(key));
  return [...faults, ...unknown.map((key) => `${place.path}${key}: must be defined in the schema`)];
}

function valueFaults(definition: Definition, value: JsonValue, place: Place): readonly string[] {
  if (!definition.array) return itemFaults(definition, value, place);
  if (!Array.isArray(value)) return [fault(place, "must be an array", value)];
  return value.flatMap((item, index) =>
    itemFaults(definition, item, { ...place, path: `${place.path}[${index}]` }),
  );
}

function itemFaults(definition: Definition, value: JsonValue, place: Place): readonly string[] {
  const { type, objectType } = definition;
  const wrong = typeFaultOf(type, value) ?? constraintFault(definition, value);
  if (wrong !== undefined) return [fault(place, wrong, value)];
  const nested = type === "nested" ? place.schemas.get(objectType ?? "") : undefined;
  if (nested === undefined) return [];
  // Nested objects are replaced as a whole, so all their required keys must be present. The JSON
  // reader bounds the depth.
  const inside = { ...place, isComplete: true, path: `${place.path}.` };
  return objectFaults(nested, value as JsonObject, inside);
}

function constraintFault(definition: Definition, value: JsonValue): string | undefined {
  const { type, eq = [], ne = [] } = definition;
  const isAmong = (values: readonly JsonValue[]): boolean =>
    values.some((each) => isSame(type, each, value));
  if (eq.length > 0 && !isAmong(eq)) return `must be one of: ${listed(eq)}`;
  if (isAmong(ne)) return `must be none of: ${listed(ne)}`;
  return typeof value === "string" && type === "string"
    ? lengthFault(definition, lengthOf(value))
    : boundFault(definition, rankOf(type, value));
}

function boundFault({ type, lt, lte, gt, gte }: Definition, rank: number): string | undefined {
  if (lt !== undefined && rank >= rankOf(type, lt)) return `must be < ${text(lt)}`;
  if (lte !== undefined && rank > rankOf(type, lte)) return `must be <= ${text(lte)}`;
  if (gt !== undefined && rank <= rankOf(type, gt)) return `must be > ${text(gt)}`;
  return gte !== undefined && rank < rankOf(type, gte) ? `must be >= ${text(gte)}` : undefined;
}

function lengthFault(definition: Definition, length: number): string | undefined {
  const { minLength, maxLength, exactLength } = definition;
  if (exactLength !== undefined && length !== exactLength) {
    return `must have exactly ${exactLength} characters`;
  }
  if (minLength !== undefined && length < minLength) {
    return `must NOT have fewer than ${minLength} characters`;
  }
  return maxLength !== undefined && length > maxLength
    ? `must NOT have more than ${maxLength} characters`
    : undefined;
}

/** Details quote values, which may be long. */
const MAX_QUOTED = 100;

const fault = ({ path }: Place, wrong: string, value: JsonValue): string =>
  `${path}: ${wrong} (actual value is '${shortened(text(value))}')`;

const listed = (values: readonly JsonValue[]): string => shortened(values.map(text).join(", "));

const shortened = (quoted: string): string =>
  quoted.length > MAX_QUOTED ? `${quoted.slice(0, MAX_QUOTED).toWellFormed()}…` : quoted;

const text = (value: JsonValue): string =>
  typeof value === "string" ? value : JSON.stringify(value);
