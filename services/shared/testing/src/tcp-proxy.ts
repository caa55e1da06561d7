import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy that makes one server look killed or frozen to its clients, and no others. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Ends all connections and rejects new ones. */
  readonly close: () => Promise<void>;
  /** Accepts connections again, on the same port. */
  readonly open: () => Promise<void>;
  /** Accepts connections but forwards nothing until it is thawed. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

export async function startTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  let isFrozen = false;
  let port = 0;
  const listen = async (): Promise<Server> => {
    const server = createServer((client) => {
      const upstream = connect(target);
      clients.add(client);
      client.on("close", () => clients.delete(client));
      for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
      client.on("close", () => upstream.destroy());
      upstream.on("close", () => client.destroy());
      client.pipe(upstream);
      upstream.pipe(client);
      if (isFrozen) client.pause();
    }).listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  let server = await listen();
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  port = address.port;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const client of clients) client.destroy();
    await closed;
  };
  return {
    port,
    close,
    async open() {
      await close();
      server = await listen();
    },
    freeze() {
      isFrozen = true;
      for (const client of clients) client.pause();
    },
    thaw() {
      isFrozen = false;
      for (const client of clients) client.resume();
    },
    [Symbol.asyncDispose]: close,
  };
}
