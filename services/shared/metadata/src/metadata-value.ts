import type { JsonValue } from "@bufbuild/protobuf";
import { parseDay, parseInstant } from "@scrip/rules";

import type { MetadataType } from "./metadata-types.ts";

/** Describes the expected type when the value does not have it. */
export const typeFaultOf = (type: MetadataType, value: JsonValue): string | undefined =>
  TYPES[type].fits(value) ? undefined : `must be ${TYPES[type].name}`;

const TYPES: Readonly<
  Record<MetadataType, { readonly name: string; readonly fits: (value: JsonValue) => boolean }>
> = {
  string: { name: "a string", fits: (value) => typeof value === "string" },
  number: { name: "a number", fits: (value) => typeof value === "number" },
  boolean: { name: "a boolean", fits: (value) => typeof value === "boolean" },
  object: { name: "an object", fits: isJsonObject },
  nested: { name: "an object", fits: isJsonObject },
  date: {
    name: "a date",
    fits: (value) => typeof value === "string" && parseDay(value, "UTC") !== undefined,
  },
  datetime: {
    name: "a datetime",
    fits: (value) => typeof value === "string" && parseInstant(value) !== undefined,
  },
  geopoint: { name: "a geopoint", fits: isGeopoint },
  image_url: { name: "an image URL", fits: isHttpUrl },
};

function isJsonObject(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Latitude and longitude in degrees: a string with a comma, or two numbers. */
function isGeopoint(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 2 && isOnEarth(value[0], value[1]);
  if (typeof value !== "string") return false;
  const match = /^(-?\d{1,2}(?:\.\d{1,15})?), ?(-?\d{1,3}(?:\.\d{1,15})?)$/.exec(value);
  return match !== null && isOnEarth(Number(match[1]), Number(match[2]));
}

const isOnEarth = (latitude: unknown, longitude: unknown): boolean =>
  typeof latitude === "number" &&
  typeof longitude === "number" &&
  Math.abs(latitude) <= 90 &&
  Math.abs(longitude) <= 180;

function isHttpUrl(value: JsonValue): boolean {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}

/** Sort key of a value: the number, or the instant of a date. NaN for types without an order. */
export function rankOf(type: MetadataType, value: JsonValue): number {
  if (type === "number" && typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  if (type === "date") return parseDay(value, "UTC") ?? Number.NaN;
  return type === "datetime" ? (parseInstant(value) ?? Number.NaN) : Number.NaN;
}

/** Datetimes are equal when they denote the same instant. */
export const isSame = (type: MetadataType, one: JsonValue, other: JsonValue): boolean =>
  type === "datetime" ? rankOf(type, one) === rankOf(type, other) : one === other;

/** Counts code points, not UTF-16 units. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
