import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type Proxy = AsyncDisposable & {
  readonly url: string;
  /** Drops the connection after the n-th write from now on was executed, and calls back. */
  loseResponse(write: number, then?: () => void): void;
};

/** A proxy in front of an installation, for tests of lost responses. */
export async function startProxy(
  target: string,
  isCounted: (path: string) => boolean = () => true,
): Promise<Proxy> {
  let remaining = 0;
  let onLoss: (() => void) | undefined;
  const server = createServer((request, response) => {
    const forward = async (): Promise<void> => {
      const { method = "GET", url = "" } = request;
      const upstream = await fetch(target + url, {
        method,
        headers: headersOf(request),
        ...(method !== "GET" && { body: await bodyOf(request) }),
      });
      const body = await upstream.text();
      if (method !== "GET" && !url.startsWith("/v1/oauth") && isCounted(url)) {
        remaining -= 1;
        if (remaining === 0) {
          onLoss?.();
          return void response.destroy();
        }
      }
      const replayed = upstream.headers.get("idempotent-replayed");
      const headers = { ...(replayed !== null && { "idempotent-replayed": replayed }) };
      response
        .writeHead(upstream.status, { "content-type": "application/json", ...headers })
        .end(body);
    };
    // A client that was killed, or an installation that has stopped.
    forward().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseResponse: (write, then) => {
      remaining = write;
      onLoss = then;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name === "host" || name === "connection" || name === "content-length"
        ? []
        : [[name, String(value)]],
    ),
  );

async function bodyOf(request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new Uint8Array(Buffer.concat(chunks));
}
