import { type Place, type RankedPlace, compareNewest, isBehind } from "./page-cursor.ts";

export type SortingRule = "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL";

/** Something that is ranked by what it takes off. */
export type Deal = { readonly place: RankedPlace };

/** The first of a ranking, behind a place in it; ties newest first. */
export const rankDeals = <One extends Deal>(
  deals: readonly One[],
  { rule, after, limit }: Ranking,
): readonly One[] => {
  const sign = rule === "BEST_DEAL" ? -1 : 1;
  const compare = (a: RankedPlace, b: RankedPlace): number =>
    sign * signOf(a.amount - b.amount) || compareNewest(a, b);
  return deals
    .filter(({ place }) => after === null || compare(place, after) > 0)
    .toSorted((a, b) => compare(a.place, b.place))
    .slice(0, limit);
};

export type Ranking = {
  readonly rule: Exclude<SortingRule, "DEFAULT">;
  readonly after: RankedPlace | null;
  readonly limit: number;
};

const signOf = (difference: bigint): number => (difference === 0n ? 0 : difference < 0n ? -1 : 1);

/**
 * Where a page ends: a plain instant, unless what comes next was made at the same one.
 */
export const endOfPage = (
  last: Place & { readonly tail: string },
  next: (Place & { readonly tail: string }) | null,
): Place =>
  next !== null && next.at !== last.at && isBehind(next, last) ? { at: last.at, tail: null } : last;
