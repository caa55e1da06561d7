import { lookup } from "node:dns/promises";

/** The addresses of a service: URLs of its replicas, or of names that resolve to all of them. */
export type ServiceAddress = {
  /** With the IP address of one replica. */
  readonly url: string;
  /** The name that its certificate has. */
  readonly host: string;
};

/** Resolves the host of each URL to all of its IP addresses. Names that cannot be resolved are left out. */
export async function resolveAddresses(
  urls: readonly string[],
): Promise<readonly ServiceAddress[]> {
  const resolved = await Promise.all(urls.map(resolve));
  const byUrl = new Map(resolved.flat().map((address) => [address.url, address]));
  return [...byUrl.values()];
}

async function resolve(text: string): Promise<readonly ServiceAddress[]> {
  const { protocol, hostname: host, port } = new URL(text);
  const withoutBrackets = host.replace(/^\[|\]$/g, "");
  try {
    const found = await lookup(withoutBrackets, { all: true });
    return found.map(({ address, family }) => {
      const name = family === 6 ? `[${address}]` : address;
      return { url: `${protocol}//${name}${port === "" ? "" : `:${port}`}`, host };
    });
  } catch {
    return [];
  }
}
