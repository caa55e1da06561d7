import { hash } from "node:crypto";

import { newId as randomId, type NewId } from "@scrip/ids";

const TIME_DIGITS = 12;
const RANDOM_DIGITS = 6;

/** A seed for the ids of one request: its time, from which they sort, and a unique text. */
export const newSeed = (): string => `${randomId("event").slice(-18)}${crypto.randomUUID()}`;

/** Ids that are the same each time that the same work draws them. */
export function seededIds(seed: string): NewId {
  const time = seed.slice(0, TIME_DIGITS);
  let drawn = 0;
  return (prefix) => {
    drawn += 1;
    return `${prefix}_${time}${hash("sha256", `${seed}:${drawn}`).slice(0, RANDOM_DIGITS)}`;
  };
}
