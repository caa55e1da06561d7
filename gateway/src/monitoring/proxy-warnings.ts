import { BlockList, isIPv4 } from "node:net";

import { plainAddress } from "../auth/ip-addresses.ts";

/** The part of a request that the check reads. */
type Request = {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/** One warning is enough to act on, and any caller could cause many. */
const QUIET_MS = 3_600_000;

/**
 * Detects a wrong SCRIP_TRUSTED_PROXIES, and logs it at most once per hour. With 0 behind a proxy, all
 * callers share the proxy's address: its limits, and the address filters of keys. With too many, a
 * caller chooses its address. Only a proxy in a private network counts as one: callers on the internet
 * may send any header.
 */
export function createProxyWarnings(
  trustedProxies: number,
  warn: (fields: object, message: string) => void,
): (request: Request) => void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return (request) => {
    const now = performance.now();
    if (now < quietUntil) return;
    const problem = problemOf(request, trustedProxies);
    if (problem === undefined) return;
    quietUntil = now + QUIET_MS;
    warn(problem.fields, problem.message);
  };
}

function problemOf(
  { headers, socket }: Request,
  trustedProxies: number,
): { readonly fields: object; readonly message: string } | undefined {
  const header = headers["x-forwarded-for"];
  const entries = typeof header === "string" ? header.split(",").length : 0;
  if (trustedProxies === 0) {
    const isForwarded = entries > 0 || headers["forwarded"] !== undefined;
    if (!isForwarded || !isPrivate(socket.remoteAddress)) return undefined;
    return {
      fields: { peer: socket.remoteAddress, forwarded_for_entries: entries },
      message:
        "requests come through a proxy, but SCRIP_TRUSTED_PROXIES is 0: all callers share the address of the proxy. Set it to the number of proxies that append to X-Forwarded-For",
    };
  }
  if (entries >= trustedProxies) return undefined;
  return {
    fields: { trusted_proxies: trustedProxies, forwarded_for_entries: entries },
    message:
      "X-Forwarded-For has fewer entries than SCRIP_TRUSTED_PROXIES: requests bypass a proxy, or the number is too high, so that callers can choose their address",
  };
}

/** Loopback, private and link-local networks, and the shared addresses of carriers and clouds. */
const PRIVATE = new BlockList();
for (const [network, prefix] of [
  ["127.0.0.0", 8],
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["169.254.0.0", 16],
  ["100.64.0.0", 10],
] as const) {
  PRIVATE.addSubnet(network, prefix, "ipv4");
}
PRIVATE.addAddress("::1", "ipv6");
PRIVATE.addSubnet("fc00::", 7, "ipv6");
PRIVATE.addSubnet("fe80::", 10, "ipv6");

function isPrivate(remote: string | undefined): boolean {
  const address = plainAddress(remote ?? "");
  return PRIVATE.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}
