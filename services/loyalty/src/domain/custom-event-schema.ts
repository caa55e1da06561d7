import { parseDay, parseInstant } from "@scrip/rules";

const PROPERTY_TYPES = ["string", "number", "date", "datetime", "boolean"] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

/** What the value of one metadata key must be. A deleted definition is retained and has no effect. */
export type PropertyDefinition = {
  readonly type: PropertyType;
  readonly optional: boolean;
  readonly deleted: boolean;
};

export type PropertyDefinitions = Readonly<Record<string, PropertyDefinition>>;

export const isPropertyType = (type: string): type is PropertyType =>
  PROPERTY_TYPES.some((known) => known === type);

/** Describes every violation; keys without a definition hold any value (docs/custom-events.md#schemas). */
export function eventMetadataFaults(
  properties: PropertyDefinitions,
  metadata: Readonly<Record<string, unknown>>,
): readonly string[] {
  return Object.entries(properties).flatMap(([key, { type, optional, deleted }]) => {
    if (deleted) return [];
    const value = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
    if (value === undefined || value === null) return optional ? [] : [`${key}: must be present`];
    return TYPES[type].fits(value)
      ? []
      : [`${key}: must be ${TYPES[type].name} (actual value is '${shortened(value)}')`];
  });
}

const TYPES: Readonly<
  Record<PropertyType, { readonly name: string; readonly fits: (value: unknown) => boolean }>
> = {
  string: { name: "a string", fits: (value) => typeof value === "string" },
  number: { name: "a number", fits: (value) => typeof value === "number" },
  boolean: { name: "a boolean", fits: (value) => typeof value === "boolean" },
  date: {
    name: "a date",
    fits: (value) => typeof value === "string" && parseDay(value, "UTC") !== undefined,
  },
  datetime: {
    name: "a datetime",
    fits: (value) => typeof value === "string" && parseInstant(value) !== undefined,
  },
};

/** Details quote values, which may be long. */
const MAX_QUOTED = 100;

function shortened(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED).toWellFormed()}…` : text;
}
