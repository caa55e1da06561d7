import { type KnownValue, type Metadata, fromScalar, isList } from "../../formula/value.ts";

/** Longer lists of metadata are not compared, so that a check stays bounded. */
const MAX_LIST = 1000;

/** The value of a metadata key for comparison; null for an absent key, null or an object. */
export function metadataOperand(metadata: Metadata, property: string): KnownValue | null {
  const value = Object.hasOwn(metadata, property) ? (metadata[property] ?? null) : null;
  if (!isList(value)) return fromScalar(value);
  if (value.length > MAX_LIST) return null;
  return { kind: "list", values: value.map(fromScalar).filter((element) => element !== null) };
}

export const idsOperand = (ids: readonly string[]): KnownValue => ({
  kind: "list",
  values: ids.map((value) => ({ kind: "text", value })),
});
