import type { Redeemable } from "./facts.ts";
import type { Refused } from "./refusal.ts";

/**
 * What a request lost to faster ones while it was decided again and again, by name: how often, and the
 * refusal of the last time.
 */
export type Losses = ReadonlyMap<string, { readonly times: number; readonly refusal: Refused }>;

export const NOTHING_LOST: Losses = new Map();

export const nameOfRedeemable = ({ object, id }: Pick<Redeemable, "object" | "id">): string =>
  `${object} ${id}`;

export type Loss = { readonly name: string; readonly refusal: Refused };

export function lossesAfter(losses: Losses, lost: readonly Loss[]): Losses {
  const all = new Map(losses);
  for (const { name, refusal } of lost) {
    all.set(name, { times: (all.get(name)?.times ?? 0) + 1, refusal });
  }
  return all;
}

/** Some of it may be left, so it is tried once more; but the others of the request must not wait for long. */
const MOST_TIMES = 2;
const PATIENT_ATTEMPTS = 2;

/** Those that are not tried any more. With each of them the request comes closer to its end. */
export function givenUp(losses: Losses, attempts: number): ReadonlyMap<string, Refused> {
  const most = attempts > PATIENT_ATTEMPTS ? 1 : MOST_TIMES;
  const lost = [...losses].filter(([, { times }]) => times >= most);
  return new Map(lost.map(([name, { refusal }]) => [name, refusal]));
}
