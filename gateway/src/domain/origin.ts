/** Whether a project trusts an origin. */
export type TrustedDomains = (origin: string) => boolean;

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+$/;
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/;

/** Normalizes `*`, a host or an origin for storage and comparison; undefined when invalid. */
export function canonicalDomain(domain: string): string | undefined {
  const lower = domain.trim().toLowerCase().replace(/\/$/, "");
  if (lower === "*") return lower;
  return ORIGIN.test(lower) || HOST.test(lower) ? withoutDefaultPort(lower) : undefined;
}

/**
 * Compiles the trusted domains of a project. Only equality counts: no suffixes, no patterns, and
 * never `null`, which sandboxed frames send.
 */
export function trustedDomains(domains: readonly string[]): TrustedDomains {
  const entries = new Set(domains);
  if (entries.has("*")) return isOrigin;
  return (origin) => {
    if (!isOrigin(origin)) return false;
    const lower = withoutDefaultPort(origin.toLowerCase());
    return entries.has(lower) || entries.has(hostOf(lower));
  };
}

/** False for `null`, which sandboxed frames send. */
export const isOrigin = (origin: string): boolean => ORIGIN.test(origin.toLowerCase());

// Browsers omit the default port of the scheme.
function withoutDefaultPort(origin: string): string {
  if (origin.startsWith("https://")) return origin.replace(/:443$/, "");
  return origin.startsWith("http://") ? origin.replace(/:80$/, "") : origin;
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("://") + 3).replace(/:\d+$/, "");
}
