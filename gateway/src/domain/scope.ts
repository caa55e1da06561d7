import type { KeyKind } from "./api-key.ts";

/** Scopes of the public API (docs/authentication.md#scopes). */
export const SERVER_SCOPES: readonly string[] = [
  "api",
  "assets",
  "async-actions",
  "audit-log",
  "campaigns",
  "categories",
  "consents",
  "customers",
  "events",
  "exports",
  "locations",
  "loyalties",
  "metadata-schemas",
  "orders",
  "product-collections",
  "products",
  "promotions",
  "publications",
  "qualifications",
  "redemptions",
  "referrals",
  "rewards",
  "segments",
  "skus",
  "task-results",
  "templates",
  "trash-bin",
  "validation-rules-assignments",
  "validation-rules",
  "validations",
  "vouchers",
];

const CLIENT_SCOPES: readonly string[] = [
  "client_api",
  "client_consents",
  "client_customers",
  "client_events",
  "client_promotions",
  "client_publish",
  "client_qualifications",
  "client_redeem",
  "client_redemptions",
  "client_validate",
  "client_validations",
  "client_vouchers",
];

const KNOWN: ReadonlySet<string> = new Set([...SERVER_SCOPES, ...CLIENT_SCOPES]);

/** `SKUs` is the documented spelling; `skus` is accepted too. */
export const canonicalScope = (scope: string): string => (scope === "SKUs" ? "skus" : scope);

export const isKnownScope = (scope: string): boolean => KNOWN.has(canonicalScope(scope));

export const isClientScope = (scope: string): boolean => scope.startsWith("client_");

/**
 * Returns the requested scopes as sent, each once, or undefined when one of them is unknown or not
 * granted: a token never gets more or fewer scopes than requested. A server key may request client
 * scopes, because a shop's backend passes such tokens to its client-side callers.
 */
export function grantScopes(
  key: { readonly kind: KeyKind; readonly scopes: readonly string[] },
  requested: string,
): readonly string[] | undefined {
  const scopes = [...new Set(requested.split(" ").filter((scope) => scope !== ""))];
  if (scopes.length === 0) return undefined;
  const granted = new Set(key.scopes.map(canonicalScope));
  const open = (scope: string): boolean => {
    const canonical = canonicalScope(scope);
    if (!KNOWN.has(canonical)) return false;
    const client = isClientScope(canonical);
    if (key.kind === "client" && !client) return false;
    return (
      granted.size === 0 || granted.has(canonical) || granted.has(client ? "client_api" : "api")
    );
  };
  return scopes.every(open) ? scopes : undefined;
}

/** Whether the scopes of a token include `needed`. */
export function coversScope(held: ReadonlySet<string>, needed: string): boolean {
  return held.has(needed) || held.has(isClientScope(needed) ? "client_api" : "api");
}

export const scopeSet = (scope: string): ReadonlySet<string> =>
  new Set(scope.split(" ").map(canonicalScope));
