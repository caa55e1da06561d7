import {
  type ItemIdentity,
  type ItemScope,
  type ScopeEntry,
  type ValidationRule,
  matchesAny,
  matchingItems,
} from "@scrip/rules";

/**
 * What all rules of a redeemable together limit its effect to; null when none of them does
 * (spec/validation-and-redemption.md §1.7).
 */
export function combinedScope(rules: readonly ValidationRule[]): ItemScope | null {
  if (rules.length === 0) return null;
  const own = rules.filter(({ scope }) => scope !== null);
  const [first] = own;
  if (first === undefined || own.length === 1) return first?.scope ?? null;
  const known = combinedScopes.get(first);
  if (known !== undefined && isSame(known.rules, own)) return known.union;
  const union = combine(own);
  combinedScopes.set(first, { rules: own, union });
  return union;
}

/** Redeemables of a campaign have the same rules, so the last union of a rule is likely the next. */
const combinedScopes = new WeakMap<
  ValidationRule,
  { readonly rules: readonly ValidationRule[]; readonly union: ItemScope }
>();

const isSame = (some: readonly ValidationRule[], others: readonly ValidationRule[]): boolean =>
  some.length === others.length && some.every((rule, at) => rule === others[at]);

function combine(rules: readonly ValidationRule[]): ItemScope {
  // One rule may be attached to a voucher and to its campaign as well.
  const scopes = [...new Map(rules.map(({ id, scope }) => [id, scope])).values()].flatMap(
    (scope) => scope ?? [],
  );
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
export type ScopeMatch =
  | { readonly kind: "entry"; readonly entry: ScopeEntry }
  | { readonly kind: "all" }
  | { readonly kind: "excluded"; readonly entries: readonly ScopeEntry[] }
  | { readonly kind: "outside" };

/** Exclusion wins; otherwise the most specific entry does, and the first of those that are equal. */
export function matchScope(line: ItemIdentity, scope: ItemScope | null): ScopeMatch {
  if (scope === null) return ALL;
  if (matchesAny(scope.excluded, line)) {
    return { kind: "excluded", entries: matchingItems(scope.excluded, line) };
  }
  let found: ScopeEntry | null = null;
  for (const entry of matchingItems(scope.included, line)) {
    if (found === null || RANKS[entry.object] < RANKS[found.object]) found = entry;
  }
  if (found !== null) return { kind: "entry", entry: found };
  return scope.included.length === 0 || scope.includedAll ? ALL : OUTSIDE;
}

const RANKS = { sku: 0, product: 1, products_collection: 2 } as const;

const ALL: ScopeMatch = { kind: "all" };
const OUTSIDE: ScopeMatch = { kind: "outside" };
