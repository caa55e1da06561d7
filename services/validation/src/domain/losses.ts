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

const PATIENT_ATTEMPTS = 2;

/**
 * Those that are not tried any more, so that the request comes closer to its end with each attempt. Of
 * a gift card something may be left: it is tried once more as long as the request is young.
 */
export function givenUp(losses: Losses, attempts: number): ReadonlyMap<string, Refused> {
  const lost = [...losses].filter(
    ([, { times, refusal }]) =>
      refusal.key !== "gift_amount_exceeded" || times > 1 || attempts > PATIENT_ATTEMPTS,
  );
  return new Map(lost.map(([name, { refusal }]) => [name, refusal]));
}
