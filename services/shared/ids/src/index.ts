import { createOpaqueSource } from "./opaque.ts";

/** Prefixes of ids by kind of resource, as the API defines them. */
export type IdPrefix =
  | "aa"
  | "app"
  | "asgm"
  | "aud"
  | "camp"
  | "cat"
  | "cust"
  | "del"
  | "ern"
  | "evcus"
  | "event"
  | "exp"
  | "imp"
  | "lopb"
  | "lopp"
  | "ltr"
  | "ms"
  | "ord"
  | "ordli"
  | "pc"
  | "prod"
  | "proj"
  | "promo"
  | "ps"
  | "pub"
  | "r"
  | "rcv"
  | "rew"
  | "rewa"
  | "rewr"
  | "rf"
  | "rh"
  | "rr"
  | "rrf"
  | "rrw"
  | "rtr"
  | "seg"
  | "sku"
  | "ssn"
  | "stack"
  | "stcr"
  | "tbe"
  | "user"
  | "v"
  | "val"
  | "valid"
  | "vtx"
  | "wh"
  | "whs";

export { createOpaqueSource, timePart } from "./opaque.ts";

export type NewId = (prefix: IdPrefix) => string;

const opaque = createOpaqueSource();

/** `<prefix>_` and 18 hex digits that sort by creation. */
export const newId: NewId = (prefix) => `${prefix}_${opaque()}`;

/** A request id as responses, logs and errors show it. */
export const newRequestId = (): string => `v-${opaque()}`;

const DIGITS = /_([0-9a-f]{12})[0-9a-f]{6}$/;

/**
 * The creation time of an id in epoch milliseconds, by the clock of the process that created it.
 */
export function createdAtMs(id: string): number | undefined {
  const digits = DIGITS.exec(id)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}
