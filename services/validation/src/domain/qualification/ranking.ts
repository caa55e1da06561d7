import {
  type PageCursor,
  type RankedPageCursor,
  compareNewest,
  isAfterCursor,
} from "./page-cursor.ts";

export type SortingRule = "DEFAULT" | "BEST_DEAL" | "LEAST_DEAL";

export type RankedItem = { readonly cursor: RankedPageCursor };

export type Ranking = {
  readonly rule: Exclude<SortingRule, "DEFAULT">;
  readonly after: RankedPageCursor | null;
  readonly limit: number;
};

/**
 * One page of the ranking by discount, after the cursor; ties newest first.
 * docs/qualification.md#ranking
 */
export const rankByDiscount = <Item extends RankedItem>(
  items: readonly Item[],
  { rule, after, limit }: Ranking,
): readonly Item[] => {
  const sign = rule === "BEST_DEAL" ? -1 : 1;
  const compare = (a: RankedPageCursor, b: RankedPageCursor): number =>
    sign * signOf(a.amount - b.amount) || compareNewest(a, b);
  return items
    .filter(({ cursor }) => after === null || compare(cursor, after) > 0)
    .toSorted((a, b) => compare(a.cursor, b.cursor))
    .slice(0, limit);
};

const signOf = (difference: bigint): number => (difference === 0n ? 0 : difference < 0n ? -1 : 1);

type ItemCursor = PageCursor & { readonly idSuffix: string };

/**
 * The cursor after the last item of a page. It needs the id only if the next item has the same
 * creation time.
 */
export const pageEnd = (last: ItemCursor, next: ItemCursor | null): PageCursor =>
  next !== null && next.createdAt !== last.createdAt && isAfterCursor(next, last)
    ? { createdAt: last.createdAt, idSuffix: null }
    : last;
