import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";

/**
 * The load client, a process of its own that shares the machine with the server. It does as little
 * as possible: raw keep-alive sockets, requests concatenated from prepared strings, and of a response
 * it reads only the status and the length. Each connection has one request in flight.
 */
export type LoadSpec = {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** Null: each connection sends its next request as soon as it has a response. */
  readonly ratePerSecond: number | null;
  /** The bytes of a request before and after its code, which is drawn uniformly from `codes`. */
  readonly before: string;
  readonly after: string;
  readonly codes: readonly string[];
  /** Bodies, drawn uniformly too; all of the same length. */
  readonly bodies: readonly string[];
  /** Whether each request has an `Idempotency-Key` of its own. */
  readonly keyed?: boolean;
};

export type LoadResult = {
  /** Responses by status, including those that arrived after the end. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Responses with status 200 per second, until the end. */
  readonly successesPerSecond: number;
  /** Requests without a response because their connection ended. */
  readonly lost: number;
  /** From the time a request was due until its response was read. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Processor time of this client in seconds. */
  readonly cpuSeconds: number;
  /** A response with another status than 200, for the error message. */
  readonly unexpectedResponse: string | null;
};

type Connection = { socket: Socket; since: number; busy: boolean; received: Buffer | null };

type Run = {
  readonly spec: LoadSpec;
  /** The end of a request's head. */
  readonly headEnd: () => string;
  readonly endsAt: number;
  readonly statuses: Record<string, number>;
  readonly latencies: number[];
  readonly idle: Connection[];
  /** When the requests that wait for a free connection were due. */
  readonly due: number[];
  successesInTime: number;
  lost: number;
  inFlight: number;
  unexpectedResponse: string | null;
  finish: () => void;
};

export async function runLoad(spec: LoadSpec): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: spec.connections }, () => openConnection(spec.port)),
  );
  const cpu = process.cpuUsage();
  const run = startRun(spec);
  const finished = new Promise<void>((resolve) => {
    run.finish = resolve;
  });
  for (const connection of connections) attach(run, connection);
  if (spec.ratePerSecond === null) {
    for (const connection of connections) send(run, connection, performance.now());
  } else {
    run.idle.push(...connections);
    keepRate(run, spec.ratePerSecond);
  }
  await finished;
  const { user, system } = process.cpuUsage(cpu);
  for (const { socket } of connections) socket.destroy();
  return result(run, (user + system) / 1e6);
}

function startRun(spec: LoadSpec): Run {
  return {
    spec: { ...spec, after: spec.after.slice(0, -HEAD_END.length) },
    headEnd: spec.keyed === true ? newKeys() : () => HEAD_END,
    endsAt: performance.now() + spec.seconds * 1000,
    statuses: {},
    latencies: [],
    idle: [],
    due: [],
    successesInTime: 0,
    lost: 0,
    inFlight: 0,
    unexpectedResponse: null,
    finish: () => {},
  };
}

const HEAD_END = "\r\n\r\n";

function newKeys(): () => string {
  const run = randomUUID();
  let keys = 0;
  return () => `\r\nIdempotency-Key: ${run}-${(keys += 1)}${HEAD_END}`;
}

async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  return { socket, since: 0, busy: false, received: null };
}

function attach(run: Run, connection: Connection): void {
  connection.socket.on("data", (chunk) => receive(run, connection, chunk));
  // A lost connection is counted by its close event.
  connection.socket.on("error", () => {});
  connection.socket.on("close", () => {
    if (!connection.busy) return;
    connection.busy = false;
    run.lost += 1;
    settle(run);
  });
}

function send(run: Run, connection: Connection, since: number): void {
  const { before, after, codes, bodies } = run.spec;
  connection.since = since;
  connection.busy = true;
  run.inFlight += 1;
  connection.socket.write(before + drawn(codes) + after + run.headEnd() + drawn(bodies), "latin1");
}

const drawn = (texts: readonly string[]): string =>
  texts[Math.floor(Math.random() * texts.length)] ?? "";

function receive(run: Run, connection: Connection, chunk: Buffer): void {
  const received =
    connection.received === null ? chunk : Buffer.concat([connection.received, chunk]);
  const length = responseLength(received);
  if (length === null || received.length < length) {
    connection.received = received;
    return;
  }
  connection.received = null;
  connection.busy = false;
  const now = performance.now();
  const status = received.toString("latin1", 9, 12);
  run.statuses[status] = (run.statuses[status] ?? 0) + 1;
  if (status === "200") {
    if (now <= run.endsAt) run.successesInTime += 1;
  } else run.unexpectedResponse ??= received.toString("latin1", 0, 2_000);
  run.latencies.push(now - connection.since);
  next(run, connection, now);
  settle(run);
}

function next(run: Run, connection: Connection, now: number): void {
  if (run.spec.ratePerSecond === null) {
    if (now < run.endsAt) send(run, connection, now);
    return;
  }
  const since = run.due.shift();
  if (since === undefined) run.idle.push(connection);
  else send(run, connection, since);
}

/** Call once per finished request, after its connection may have sent another. */
function settle(run: Run): void {
  run.inFlight -= 1;
  if (run.inFlight > 0) return;
  // With a fixed rate, no request may be in flight for a while before the end.
  if (run.spec.ratePerSecond === null || performance.now() >= run.endsAt) run.finish();
}

/** The length of a response; null until its head is complete. */
function responseLength(received: Buffer): number | null {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return null;
  const stated = /\r\ncontent-length: (\d+)/i.exec(received.toString("latin1", 0, headEnd));
  return headEnd + 4 + Number(stated?.[1] ?? 0);
}

/** Sends at fixed times, independent of earlier requests; the waiting time counts as latency. */
function keepRate(run: Run, ratePerSecond: number): void {
  const start = performance.now();
  const total = Math.floor(run.spec.seconds * ratePerSecond);
  let sent = 0;
  const tick = (): void => {
    const now = performance.now();
    while (sent < total && start + (sent * 1000) / ratePerSecond <= now) {
      const since = start + (sent * 1000) / ratePerSecond;
      // In turns: a server closes connections that stay idle.
      const connection = run.idle.shift();
      if (connection === undefined) run.due.push(since);
      else send(run, connection, since);
      sent += 1;
    }
    const over = sent >= total && now >= run.endsAt;
    if (!over) setTimeout(tick, 1);
    else if (run.inFlight === 0) run.finish();
  };
  tick();
}

function result(run: Run, cpuSeconds: number): LoadResult {
  const sorted = run.latencies.toSorted((a, b) => a - b);
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return {
    statuses: run.statuses,
    successesPerSecond: run.successesInTime / run.spec.seconds,
    lost: run.lost + run.due.length,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    cpuSeconds,
    unexpectedResponse: run.unexpectedResponse,
  };
}
