import type { KeyKind } from "./api-key.ts";

/** The scope values of the public contract (spec/interface.md, Authentication 5). */
const SERVER_SCOPES: readonly string[] = [
  "api",
  "assets",
  "async-actions",
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

/** The published spelling is `SKUs`; the usual one is accepted too (ruling D3). */
export const canonicalScope = (scope: string): string => (scope === "SKUs" ? "skus" : scope);

export const isKnownScope = (scope: string): boolean => KNOWN.has(canonicalScope(scope));

export const isClientScope = (scope: string): boolean => scope.startsWith("client_");

/**
 * What a token gets of the scopes that it asks for, or undefined when one of them is unknown or not
 * granted: a token is never widened and never silently narrowed. Values are echoed as they were
 * sent, each once.
 *
 * A server key may also ask for client scopes: a merchant's backend hands such tokens to browsers,
 * which then never see a way to the server side.
 */
export function grantScopes(
  key: { readonly kind: KeyKind; readonly scopes: readonly string[] },
  asked: string,
): readonly string[] | undefined {
  const scopes = [...new Set(asked.split(" ").filter((scope) => scope !== ""))];
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

/** Whether scopes that a token holds open something that asks for `needed`. */
export function coversScope(held: ReadonlySet<string>, needed: string): boolean {
  return held.has(needed) || held.has(isClientScope(needed) ? "client_api" : "api");
}

export const scopeSet = (scope: string): ReadonlySet<string> =>
  new Set(scope.split(" ").map(canonicalScope));
