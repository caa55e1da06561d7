import {
  type ItemIdentity,
  type ItemScope,
  type ScopeEntry,
  type ValidationRule,
  matchesItem,
} from "@scrip/rules";

/**
 * What all rules of a redeemable together limit its effect to; null when none of them does
 * (spec/validation-and-redemption.md §1.7).
 */
export function unionOfScopes(rules: readonly ValidationRule[]): ItemScope | null {
  if (rules.length === 0) return null;
  const own = rules.filter(({ scope }) => scope !== null);
  // One rule may be attached to a voucher and to its campaign as well.
  const scopes = [...new Map(own.map(({ id, scope }) => [id, scope])).values()].flatMap(
    (scope) => scope ?? [],
  );
  const [first, ...others] = scopes;
  if (first === undefined || others.length === 0) return first ?? null;
  return {
    included: scopes.flatMap(({ included }) => included),
    excluded: scopes.flatMap(({ excluded }) => excluded),
    includedAll: scopes.some(({ includedAll }) => includedAll),
  };
}

/** Whether an effect that was not named is one on items (§1.6). */
export const limitsProducts = (scope: ItemScope | null): boolean =>
  scope !== null && (scope.included.length > 0 || scope.excluded.length > 0);

/** Where a line belongs: to one entry, to the scope as a whole, or nowhere. */
export type Belonging =
  | { readonly kind: "entry"; readonly entry: ScopeEntry }
  | { readonly kind: "all" }
  | { readonly kind: "excluded"; readonly entries: readonly ScopeEntry[] }
  | { readonly kind: "outside" };

/** Exclusion wins; otherwise the most specific entry does, and the first of those that are equal. */
export function belongingOf(line: ItemIdentity, scope: ItemScope | null): Belonging {
  if (scope === null) return ALL;
  const excluded = scope.excluded.filter((entry) => matchesItem(entry, line));
  if (excluded.length > 0) return { kind: "excluded", entries: excluded };
  let found: ScopeEntry | null = null;
  for (const entry of scope.included) {
    if (found !== null && RANKS[entry.object] >= RANKS[found.object]) continue;
    if (matchesItem(entry, line)) found = entry;
  }
  if (found !== null) return { kind: "entry", entry: found };
  return scope.included.length === 0 || scope.includedAll ? ALL : OUTSIDE;
}

const RANKS = { sku: 0, product: 1, products_collection: 2 } as const;

const ALL: Belonging = { kind: "all" };
const OUTSIDE: Belonging = { kind: "outside" };
