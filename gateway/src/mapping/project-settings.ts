import { invalidPayload } from "@scrip/errors";

import { parseRange } from "../auth/ip-addresses.ts";
import type { KeyKind } from "../domain/api-key.ts";
import { canonicalDomain } from "../domain/origin.ts";
import { CLIENT_FEATURES, type ClientFeature, isProjectTimeZone } from "../domain/project.ts";
import { isClientScope, isKnownScope, canonicalScope } from "../domain/scope.ts";

/** Feature flags of a request, by message field. */
export type FeatureFlags = {
  readonly clientRedeemEnabled?: boolean | undefined;
  readonly clientPublishEnabled?: boolean | undefined;
  readonly clientListVouchersEnabled?: boolean | undefined;
  readonly clientCreateCustomerEnabled?: boolean | undefined;
  readonly clientLoyaltyEventsEnabled?: boolean | undefined;
  readonly clientSetVoucherExpirationDateEnabled?: boolean | undefined;
};

/** The enabled features after a request; absent flags are unchanged. */
export function parseFeatures(
  flags: FeatureFlags,
  before: readonly ClientFeature[],
): readonly ClientFeature[] {
  const sent: Readonly<Record<ClientFeature, boolean | undefined>> = {
    redeem: flags.clientRedeemEnabled,
    publish: flags.clientPublishEnabled,
    list_vouchers: flags.clientListVouchersEnabled,
    create_customer: flags.clientCreateCustomerEnabled,
    loyalty_events: flags.clientLoyaltyEventsEnabled,
    set_voucher_expiration_date: flags.clientSetVoucherExpirationDateEnabled,
  };
  return CLIENT_FEATURES.filter((feature) => sent[feature] ?? before.includes(feature));
}

export function parseTimeZone(timeZone: string): string {
  if (isProjectTimeZone(timeZone)) return timeZone;
  throw invalidPayload("Property .timezone must be an IANA time zone or a GMT offset");
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

export function parseCurrency(currency: string): string {
  if (CURRENCIES.has(currency)) return currency;
  throw invalidPayload("Property .currency must be an ISO 4217 code");
}

export function parseDomains(domains: readonly string[]): readonly string[] {
  return domains.map((domain, index) => {
    const canonical = canonicalDomain(domain);
    if (canonical !== undefined) return canonical;
    throw invalidPayload(
      `Property .client_trusted_domains[${index}] must be *, a host or scheme://host[:port]`,
    );
  });
}

export function parseScopes(kind: KeyKind, scopes: readonly string[]): readonly string[] {
  for (const [index, scope] of scopes.entries()) {
    const fits = kind === "server" || isClientScope(canonicalScope(scope));
    if (isKnownScope(scope) && fits) continue;
    throw invalidPayload(`Property .scopes[${index}] must be a scope of a ${kind} key`);
  }
  return [...new Set(scopes)];
}

export function parseAddresses(ranges: readonly string[]): readonly string[] {
  for (const [index, range] of ranges.entries()) {
    if (parseRange(range) !== undefined) continue;
    throw invalidPayload(`Property .allowed_ips[${index}] must be an address or a CIDR range`);
  }
  return ranges.map((range) => range.trim());
}
