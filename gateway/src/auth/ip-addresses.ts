import { BlockList, isIP, isIPv4 } from "node:net";

/** Whether a key may be used from an address. */
export type AddressFilter = (address: string) => boolean;

/** Undefined when the text is neither an address nor a CIDR range. */
export function parseRange(
  text: string,
):
  | { readonly address: string; readonly prefix: number; readonly family: "ipv4" | "ipv6" }
  | undefined {
  const [address = "", bits, ...rest] = text.trim().split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return undefined;
  const longest = version === 4 ? 32 : 128;
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return undefined;
  const prefix = bits === undefined ? longest : Number(bits);
  if (prefix > longest) return undefined;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Undefined when all addresses are allowed. */
export function addressFilter(ranges: readonly string[]): AddressFilter | undefined {
  if (ranges.length === 0) return undefined;
  const list = new BlockList();
  for (const range of ranges) {
    const parsed = parseRange(range);
    if (parsed !== undefined) list.addSubnet(parsed.address, parsed.prefix, parsed.family);
  }
  return (address) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/**
 * The address of the client. Each trusted proxy appends the address that it was called from to
 * X-Forwarded-For; entries further left were sent by the client and are not trusted.
 */
export function clientAddress(
  remote: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number,
): string {
  const direct = plainAddress(remote ?? "");
  if (trustedProxies === 0 || forwardedFor === undefined) return direct;
  const hops = forwardedFor.split(",");
  const claimed = plainAddress((hops[Math.max(hops.length - trustedProxies, 0)] ?? "").trim());
  return isIP(claimed) === 0 ? direct : claimed;
}

/** The key of rate limits: an IPv6 client usually controls a whole /64. */
export function limitAddress(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? [] : tail.split(":");
    while (groups.length + after.length < 8) groups.push("0");
    groups.push(...after);
  }
  return groups.slice(0, 4).join(":");
}

/** An IPv4 address that the system shows in IPv6 form becomes IPv4. */
export const plainAddress = (address: string): string =>
  address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
