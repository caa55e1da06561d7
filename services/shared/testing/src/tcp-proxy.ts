import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { Transform } from "node:stream";

/** How long a chunk takes in either direction. */
export type Delay = () => number;

const NO_DELAY: Delay = () => 0;

/** A TCP proxy that makes one server look killed, frozen or far away to its clients, and no others. */
export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Ends all connections and rejects new ones. */
  readonly close: () => Promise<void>;
  /** Accepts connections again, on the same port. */
  readonly open: () => Promise<void>;
  /** Accepts connections but forwards nothing until it is thawed. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** What is forwarded from now on takes as long as `delay` returns, in its order. */
  readonly delay: (delay: Delay) => void;
};

export async function startTcpProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<TcpProxy> {
  const clients = new Set<Socket>();
  let isFrozen = false;
  let delay = NO_DELAY;
  let port = 0;
  const listen = async (): Promise<Server> => {
    const server = createServer((client) => {
      const upstream = connect(target);
      clients.add(client);
      client.on("close", () => clients.delete(client));
      for (const socket of [client, upstream]) socket.on("error", () => socket.destroy());
      client.on("close", () => upstream.destroy());
      upstream.on("close", () => client.destroy());
      client.pipe(delayed(() => delay())).pipe(upstream);
      upstream.pipe(delayed(() => delay())).pipe(client);
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
    delay(next) {
      delay = next;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Passes each chunk on after its delay, and never before the one that it follows. */
function delayed(delay: Delay): Transform {
  const waiting: Buffer[] = [];
  let dueAt = 0;
  const waitMs = (): number => Math.max(dueAt - performance.now(), 0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      dueAt = Math.max(dueAt, performance.now() + delay());
      if (waiting.length === 0 && waitMs() === 0) {
        done(null, chunk);
        return;
      }
      waiting.push(chunk);
      // Timers may end in another order.
      setTimeout(() => this.push(waiting.shift()), waitMs());
      done();
    },
    flush(done) {
      setTimeout(done, waitMs() + 1);
    },
  });
}
