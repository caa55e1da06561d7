import { hash } from "node:crypto";

import { createOpaqueSource, newId as randomId, type NewId } from "@scrip/ids";

const TIME_DIGITS = 12;
/** The counter of an id starts in the lower half of 24 bits. */
const MAX_START = 0x7fffff;

/** A seed for the ids of one request: its time, from which they sort, and a unique text. */
export const newSeed = (): string => `${randomId("event").slice(-18)}${crypto.randomUUID()}`;

/** Ids that are the same each time that the same work draws them, and different from each other. */
export function seededIds(seed: string): NewId {
  const time = Number.parseInt(seed.slice(0, TIME_DIGITS), 16);
  const start = Number.parseInt(hash("sha256", seed).slice(0, 6), 16) & MAX_START;
  const opaque = createOpaqueSource({ now: () => time, start: () => start });
  return (prefix) => `${prefix}_${opaque()}`;
}
