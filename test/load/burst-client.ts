import { connect, type Socket } from "node:net";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";

/** A client of an overload: many connections that all send the same request at once. */
export type BurstSpec = {
  readonly port: number;
  readonly connections: number;
  /** The bytes of the request. */
  readonly request: string;
  /** Each connection repeats its request until then; 0 sends it once. */
  readonly seconds: number;
  /** Whether all connections are open before the first request, as those of clients that keep them alive. */
  readonly isConnected?: boolean;
  /** Whether a refused connection waits as long as `Retry-After` says before it repeats its request. */
  readonly isPolite: boolean;
};

export type BurstResult = {
  /** Responses by status; `lost` counts requests whose connection ended. */
  readonly statuses: Readonly<Record<string, number>>;
  /** From the first request until the last response with status 200. */
  readonly servedSeconds: number;
  /** Of responses with status 200, after their first second, per second. */
  readonly served: Latencies;
  /** Of responses with status 429 and 503. */
  readonly rejected: Latencies;
  /** Of the first request of each connection among them, from the start of the burst: connecting takes time, too. */
  readonly rejectedFirst: Latencies;
  /** The same, from the sending of the request. */
  readonly rejectedFirstSent: Latencies;
  /**
   * How many responses with status 200 arrived while a rejected request waited for its response: unlike latencies,
   * independent of the load of the machine.
   */
  readonly servedBeforeRejection: { readonly p99: number; readonly max: number };
  /** How late this client's own event loop was: a part of all latencies. */
  readonly clientDelay: Latencies;
  readonly bytesPerServed: number;
};

export type Latencies = { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };

/** Until the server has accepted all connections. */
const ACCEPT_MS = 1_000;

type Exchange = { status: string; since: number; remaining: number; head: string; bytes: number };

export async function runBurst(spec: BurstSpec): Promise<BurstResult> {
  const statuses: Record<string, number> = {};
  const served: number[] = [];
  const rejected: number[] = [];
  const rejectedFirst: number[] = [];
  const rejectedFirstSent: number[] = [];
  const servedBeforeRejection: number[] = [];
  const connected =
    spec.isConnected === true
      ? await Promise.all(Array.from({ length: spec.connections }, () => openSocket(spec.port)))
      : [];
  if (connected.length > 0) await new Promise((resolve) => setTimeout(resolve, ACCEPT_MS));
  const delay = monitorEventLoopDelay({ resolution: 2 });
  delay.enable();
  let bytes = 0;
  let lastServed = 0;
  const start = performance.now();
  const endsAt = start + spec.seconds * 1000;
  const count = (status: string): void => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  await Promise.all(
    Array.from({ length: spec.connections }, async (_, index) => {
      // Each sends as soon as it is connected, so the server accepts further ones under load.
      using socket = connected[index] ?? (await openSocket(spec.port));
      for (let repetition = 0; ; repetition += 1) {
        const sentAt = performance.now();
        const since = repetition === 0 ? start : sentAt;
        const servedBefore = served.length;
        const response = await exchange(socket, spec.request, since);
        if (response === undefined) return count("lost");
        const now = performance.now();
        count(response.status);
        if (response.status === "200") {
          served.push(now - since);
          bytes += response.bytes;
          lastServed = now;
        } else {
          rejected.push(now - since);
          servedBeforeRejection.push(served.length - servedBefore);
          if (repetition === 0) {
            rejectedFirst.push(now - since);
            rejectedFirstSent.push(now - sentAt);
          }
        }
        if (performance.now() >= endsAt) return;
        const wait = Number(/\r\nretry-after: (\d+)/i.exec(response.head)?.[1] ?? 0) * 1000;
        if (spec.isPolite && wait > 0) {
          if (now + wait >= endsAt) return;
          await new Promise((resolve) => setTimeout(resolve, wait));
        }
        if (/\r\nconnection: close/i.test(response.head)) return;
      }
    }),
  );
  const counts = servedBeforeRejection.toSorted((a, b) => a - b);
  return {
    statuses,
    servedSeconds: Math.max(0, lastServed - start) / 1000,
    served: latenciesOf(served),
    rejected: latenciesOf(rejected),
    rejectedFirst: latenciesOf(rejectedFirst),
    rejectedFirstSent: latenciesOf(rejectedFirstSent),
    servedBeforeRejection: {
      p99: counts[Math.floor(counts.length * 0.99)] ?? 0,
      max: counts.at(-1) ?? 0,
    },
    clientDelay: delaysOf(delay),
    bytesPerServed: Math.round(bytes / Math.max(1, served.length)),
  };
}

async function openSocket(port: number): Promise<Socket & Disposable> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() });
}

/** Sends the request and discards the response's body; undefined when the connection ends. */
function exchange(socket: Socket, request: string, since: number): Promise<Exchange | undefined> {
  return new Promise((resolve) => {
    const state: Exchange = { status: "", since, remaining: 0, head: "", bytes: 0 };
    const done = (result: Exchange | undefined): void => {
      socket.off("data", receive);
      socket.off("close", closed);
      resolve(result);
    };
    const closed = (): void => done(undefined);
    const receive = (chunk: Buffer): void => {
      state.bytes += chunk.length;
      if (state.status === "") {
        state.head += chunk.toString("latin1");
        const end = state.head.indexOf("\r\n\r\n");
        if (end === -1) return;
        state.status = state.head.slice(9, 12);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(state.head)?.[1] ?? 0);
        state.remaining = end + 4 + length - state.head.length;
        state.head = state.head.slice(0, end + 2);
      } else state.remaining -= chunk.length;
      if (state.remaining <= 0) done(state);
    };
    socket.on("data", receive);
    socket.on("close", closed);
    if (socket.destroyed) closed();
    else socket.write(request, "latin1");
  });
}

const delaysOf = (delay: ReturnType<typeof monitorEventLoopDelay>): Latencies => ({
  p50Ms: delay.percentile(50) / 1e6,
  p99Ms: delay.percentile(99) / 1e6,
  maxMs: delay.max / 1e6,
});

export function latenciesOf(values: readonly number[]): Latencies {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}
