import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** Forwards connections to the ports in turns; those that accept none are skipped, as by a load balancer. */
export async function startLoadBalancer(
  ports: readonly number[],
): Promise<AsyncDisposable & { readonly url: string }> {
  const clients = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    clients.add(client);
    client.on("close", () => clients.delete(client)).on("error", () => client.destroy());
    turn += 1;
    forward(client, [...ports.slice(turn % ports.length), ...ports.slice(0, turn % ports.length)]);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening on a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}

function forward(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy();
    return;
  }
  const upstream = connect(port, "127.0.0.1");
  const next = (): void => forward(client, others);
  upstream.once("error", next);
  upstream.once("connect", () => {
    upstream.off("error", next).on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
  });
}
