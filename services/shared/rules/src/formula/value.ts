import { type Decimal, decimalOfNumber, decimalText, fromMinorUnits } from "@scrip/money";

import { formatInstant } from "../time/time-zone.ts";

/** The value of a part of a formula. A failure propagates to everything that reads it. */
export type FormulaValue = KnownValue | Failure;

export type KnownValue =
  | { readonly kind: "number"; readonly value: Decimal }
  | { readonly kind: "text"; readonly value: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "date"; readonly instant: number }
  | { readonly kind: "list"; readonly values: readonly KnownValue[] };

/** Why a formula has no value, for explanations. */
export type Failure = { readonly kind: "failure"; readonly reason: string };

/** Metadata as JSON. */
export type MetadataValue =
  | string
  | number
  | boolean
  | null
  | readonly MetadataValue[]
  | { readonly [key: string]: MetadataValue };

export type Metadata = { readonly [key: string]: MetadataValue };

export const failure = (reason: string): Failure => ({ kind: "failure", reason });

export const numberValue = (value: Decimal): KnownValue => ({ kind: "number", value });

export const countValue = (count: bigint): KnownValue => numberValue({ unscaled: count, scale: 0 });

/** Formulas calculate in major units. */
export const moneyValue = (minorUnits: bigint): KnownValue =>
  numberValue(fromMinorUnits(minorUnits));

export const dateValue = (instant: number): KnownValue => ({ kind: "date", instant });

export const textValue = (value: string): KnownValue => ({ kind: "text", value });

export const booleanValue = (value: boolean): KnownValue & { readonly kind: "boolean" } => ({
  kind: "boolean",
  value,
});

/** Larger values of a metadata key are no operands, which bounds the cost of reading one. */
const MAX_TEXT = 1000;
const MAX_LIST = 100;

/**
 * The value of a metadata key; null for an absent key, null, an object, or a value too large or out
 * of range.
 */
export function metadataValue(metadata: Metadata, key: string): KnownValue | null {
  return Object.hasOwn(metadata, key) ? fromJson(metadata[key] ?? null) : null;
}

function fromJson(value: MetadataValue): KnownValue | null {
  if (isList(value)) return listValue(value);
  return typeof value === "string" && value.length > MAX_TEXT ? null : fromScalar(value);
}

/** A text, number or boolean; null for anything else, and for a number out of range. */
export function fromScalar(value: MetadataValue): KnownValue | null {
  switch (typeof value) {
    case "string":
      return textValue(value);
    case "boolean":
      return booleanValue(value);
    case "number": {
      const decimal = decimalOfNumber(value);
      return decimal === undefined ? null : numberValue(decimal);
    }
    default:
      return null;
  }
}

export const isList = (value: MetadataValue): value is readonly MetadataValue[] =>
  Array.isArray(value);

export const isObject = (value: MetadataValue): value is Metadata =>
  typeof value === "object" && value !== null && !isList(value);

function listValue(values: readonly MetadataValue[]): KnownValue | null {
  if (values.length > MAX_LIST) return null;
  const known = values.flatMap((value) => {
    const element = isList(value) ? null : fromJson(value);
    return element === null ? [] : [element];
  });
  return { kind: "list", values: known };
}

/** The value as JSON, for display. */
export function valueToJson(value: KnownValue): MetadataValue {
  switch (value.kind) {
    case "number":
      return Number(decimalText(value.value));
    case "text":
    case "boolean":
      return value.value;
    case "date":
      return formatInstant(value.instant);
    case "list":
      return value.values.map(valueToJson);
    default:
      return value satisfies never;
  }
}
