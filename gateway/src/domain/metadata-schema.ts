import type { JsonValue } from "@bufbuild/protobuf";

import { definitionFault } from "./metadata-definition.ts";

/** What the metadata of a resource must look like; spec/campaigns-loyalty-platform.md §17. */
export type MetadataSchema = {
  readonly id: string;
  /** The resource, or a name that nested values refer to. */
  readonly relatedObject: string;
  readonly properties: Readonly<Record<string, Definition>>;
  readonly allowDefinedOnly: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** What the value of one key must be. */
export type Definition = {
  readonly type: MetadataType;
  readonly array: boolean;
  readonly optional: boolean;
  /** Counts as not defined; it stays for its type. */
  readonly deleted: boolean;
  readonly objectType?: string;
  readonly eq?: readonly JsonValue[];
  readonly ne?: readonly JsonValue[];
  readonly lt?: JsonValue;
  readonly lte?: JsonValue;
  readonly gt?: JsonValue;
  readonly gte?: JsonValue;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly exactLength?: number;
};

export type MetadataType =
  | "string"
  | "number"
  | "object"
  | "date"
  | "datetime"
  | "geopoint"
  | "boolean"
  | "image_url"
  | "nested";

export type Definitions = MetadataSchema["properties"];

/** Deleted ones count too: a client may bring them back. */
const MAX_DEFINITIONS = 100;
const MAX_KEY_LENGTH = 100;

/** The definitions with those that were sent over them, each replaced as a whole, or what is wrong. */
export function mergeDefinitions(
  stored: Definitions,
  sent: Definitions,
): { readonly merged: Definitions } | { readonly fault: string } {
  for (const [key, definition] of Object.entries(sent)) {
    const fault =
      keyFault(key) ?? typeFault(stored, key, definition) ?? definitionFault(definition);
    if (fault !== undefined) return { fault: `Property .properties.${key}${fault}` };
  }
  const merged = { ...stored, ...sent };
  return Object.keys(merged).length > MAX_DEFINITIONS
    ? { fault: `Property .properties must NOT have more than ${MAX_DEFINITIONS} items` }
    : { merged };
}

const keyFault = (key: string): string | undefined =>
  key === "" || key.length > MAX_KEY_LENGTH
    ? ` must have a name of 1 to ${MAX_KEY_LENGTH} characters`
    : undefined;

function typeFault(stored: Definitions, key: string, { type }: Definition): string | undefined {
  const before = Object.hasOwn(stored, key) ? stored[key] : undefined;
  return before === undefined || before.type === type
    ? undefined
    : `.type must stay ${before.type}: the type of a definition never changes`;
}

/** The names of the schemas that nested values refer to. */
export const objectTypesOf = (properties: Definitions): readonly string[] => [
  ...new Set(Object.values(properties).flatMap(({ objectType }) => objectType ?? [])),
];
