import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type Proxy = AsyncDisposable & {
  readonly url: string;
  /** Drops the connection after the n-th write from now on was executed. */
  loseResponse(write: number): void;
};

/** A proxy in front of an installation, for tests of lost responses. */
export async function startProxy(target: string): Promise<Proxy> {
  let remaining = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const { method = "GET", url = "" } = request;
      const upstream = await fetch(target + url, {
        method,
        headers: headersOf(request),
        ...(method !== "GET" && { body: await bodyOf(request) }),
      });
      const body = await upstream.text();
      if (method !== "GET" && !url.startsWith("/v1/oauth")) {
        remaining -= 1;
        if (remaining === 0) return void response.destroy();
      }
      response.writeHead(upstream.status, { "content-type": "application/json" }).end(body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseResponse: (write) => {
      remaining = write;
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

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
  return body;
}
