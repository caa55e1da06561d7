import {
  type ItemIdentity,
  type ItemScope,
  type ScopeEntry,
  type ValidationRule,
  matchesAny,
  matchingItems,
} from "@scrip/rules";

/**
 * The applicable items of all rules of a redeemable together; null without a restriction.
 * docs/validation-rules.md#applicable-items
 */
export function combinedScope(rules: readonly ValidationRule[]): ItemScope | null {
  if (rules.length === 0) return null;
  const restricting = rules.filter(({ scope }) => scope !== null);
  const [first] = restricting;
  if (first === undefined || restricting.length === 1) return first?.scope ?? null;
  const cached = combinedScopes.get(first);
  if (cached !== undefined && isSame(cached.rules, restricting)) return cached.union;
  const union = combine(restricting);
  combinedScopes.set(first, { rules: restricting, union });
  return union;
}

/**
 * Redeemables of a campaign share their rules, so the last union of a rule is likely needed again.
 */
const combinedScopes = new WeakMap<
  ValidationRule,
  { readonly rules: readonly ValidationRule[]; readonly union: ItemScope }
>();

const isSame = (some: readonly ValidationRule[], others: readonly ValidationRule[]): boolean =>
  some.length === others.length && some.every((rule, at) => rule === others[at]);

function combine(rules: readonly ValidationRule[]): ItemScope {
  // A rule can be assigned to a voucher and to its campaign.
  const scopes = [...new Map(rules.map(({ id, scope }) => [id, scope])).values()].flatMap(
    (scope) => scope ?? [],
  );
  return {
    included: scopes.flatMap(({ included }) => included),
    excluded: scopes.flatMap(({ excluded }) => excluded),
    includedAll: scopes.some(({ includedAll }) => includedAll),
  };
}

/**
 * Whether a discount without an effect defaults to APPLY_TO_ITEMS.
 * docs/order-calculation.md#effects
 */
export const limitsProducts = (scope: ItemScope | null): boolean =>
  scope !== null && (scope.included.length > 0 || scope.excluded.length > 0);

/** Which entry of the scope a line matches, if any. */
export type ScopeMatch =
  | { readonly kind: "entry"; readonly entry: ScopeEntry }
  | { readonly kind: "all" }
  | { readonly kind: "excluded"; readonly entries: readonly ScopeEntry[] }
  | { readonly kind: "outside" };

/** Exclusion wins, then the most specific entry, then the first one. */
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
