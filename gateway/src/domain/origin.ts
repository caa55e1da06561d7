/** What a project trusts: everything, a host under any scheme and port, or one exact origin. */
export type TrustedDomains = (origin: string) => boolean;

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+$/;
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/;

/** The form that a trusted domain is stored and compared in, or undefined when it is none. */
export function canonicalDomain(domain: string): string | undefined {
  const lower = domain.trim().toLowerCase().replace(/\/$/, "");
  if (lower === "*") return lower;
  return ORIGIN.test(lower) || HOST.test(lower) ? withoutDefaultPort(lower) : undefined;
}

/**
 * Compiles the entries of a project. Nothing but equality counts: no suffixes, no patterns, and
 * never `null`, which every sandboxed frame sends.
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

/** Whether it names a place at all, as `null` does not. */
export const isOrigin = (origin: string): boolean => ORIGIN.test(origin.toLowerCase());

// Browsers leave the scheme's own port out of an origin.
function withoutDefaultPort(origin: string): string {
  if (origin.startsWith("https://")) return origin.replace(/:443$/, "");
  return origin.startsWith("http://") ? origin.replace(/:80$/, "") : origin;
}

function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("://") + 3).replace(/:\d+$/, "");
}
