import ipaddr from "ipaddr.js";

/** What the installation allows as a target. */
export type TargetPolicy = {
  readonly allowHttp: boolean;
  readonly allowPrivate: boolean;
};

/** Why requests to the URL are not allowed; undefined: they are, as far as the text of the URL shows. */
export function targetViolation(url: string, policy: TargetPolicy): string | undefined {
  if (!URL.canParse(url)) return "must be a URL";
  const { protocol, hostname, username, password } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && policy.allowHttp))
    return "must be an https URL";
  if (username !== "" || password !== "") return "must not contain credentials";
  if (policy.allowPrivate) return undefined;
  const address = hostname.replace(/^\[|\]$/g, "");
  if (ipaddr.isValid(address) && !isPublicAddress(address)) return PRIVATE;
  return /(^|\.)localhost\.?$/.test(hostname) ? PRIVATE : undefined;
}

const PRIVATE = "must not be a private address";

/** Whether the address is on the public internet: no loopback, private, link-local, multicast or reserved one. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST);
}

/** All that IANA has assigned for it: also excludes `::127.0.0.1` and `64:ff9b::127.0.0.1`, which contain IPv4 addresses. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Headers that requests have anyway, and those that decide how HTTP reads the request. */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
]);

/** Why the header cannot be set; undefined: it can. */
export function headerViolation(
  name: string,
  value: string,
  signatureHeader: string,
): string | undefined {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) return "is not a header name";
  const lower = name.toLowerCase();
  if (OWN_HEADERS.has(lower) || lower === signatureHeader.toLowerCase()) return "is set by Scrip";
  return /^[\t\u0020-\u007e]{0,1000}$/.test(value)
    ? undefined
    : "must have a value of printable ASCII";
}
