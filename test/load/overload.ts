import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { type Composition, type Stack, startComposition } from "../stack/compositions.ts";
import { type BurstResult, type BurstSpec, latenciesOf } from "./burst-client.ts";
import type { LoadResult } from "./load-client.ts";
import { startLoadClient } from "./load.ts";
import { cpuSecondsOf, describeMachine, residentMiB } from "./machine.ts";
import { heavyRequest, lightRequest } from "./overload-requests.ts";
import { openBenchDatabase } from "./postgres.ts";
import { measureRejections } from "./rejections.ts";
import { table } from "./table.ts";
import { captureWire, type WireResponse, type WireTimes } from "./wire.ts";

/**
 * Overloads an installation with heavy requests of one project, and measures what another project
 * notices (README.md#overload).
 */
const OPTIONS = {
  distributed: { type: "boolean", default: false },
  /** Concurrent heavy requests. */
  requests: { type: "string", default: "1200" },
  /** How long rejected requests are repeated; 0 sends each once. */
  seconds: { type: "string", default: "15" },
  /** Repeats rejected requests immediately instead of after `Retry-After`. */
  impolite: { type: "boolean", default: false },
  redeemables: { type: "string", default: "30" },
  lines: { type: "string", default: "500" },
  /** A value of `options.expand`, which changes the size of the response. */
  expand: { type: "string", default: "" },
  /** Old space of each process in MiB. */
  heap: { type: "string", default: "1024" },
  /** A folder for CPU profiles of the processes. */
  profile: { type: "string", default: "" },
  /** Measures the processor time of a rejection instead. */
  rejections: { type: "boolean", default: false },
  /** Only measures two heavy requests at a time. */
  unloaded: { type: "boolean", default: false },
} as const;

const { values: options } = parseArgs({ options: OPTIONS });
const FOLDER = path.join(import.meta.dirname, "../..", `.scrip-bench-${process.pid}`);
const LIGHT_PER_SECOND = 50;
const LIVEZ_PER_SECOND = 20;
const UNLOADED_SECONDS = 8;

async function main(): Promise<void> {
  const composition: Composition = options.distributed ? "distributed" : "standalone";
  await mkdir(FOLDER);
  try {
    await using postgres = await openBenchDatabase(path.join(FOLDER, "postgres"));
    const url = await postgres.create("overload");
    await using stack = await startComposition(composition, {
      database: { url, [Symbol.asyncDispose]: async () => {} },
      nodeArgs: [
        `--max-old-space-size=${options.heap}`,
        ...(options.profile === "" ? [] : ["--cpu-prof", `--cpu-prof-dir=${options.profile}`]),
      ],
    });
    await measure(stack);
  } finally {
    await rm(FOLDER, { recursive: true, force: true });
  }
}

async function measure(stack: Stack): Promise<void> {
  const { port } = new URL(stack.url);
  const heavy = await heavyRequest(stack, {
    redeemables: Number(options.redeemables),
    lines: Number(options.lines),
    expand: options.expand === "" ? [] : [options.expand],
  });
  const light = await lightRequest(stack);
  const burst: BurstSpec = {
    port: Number(port),
    connections: 2,
    request: heavy,
    seconds: UNLOADED_SECONDS,
    isPolite: true,
  };
  log("warming up");
  await runBurst({ ...burst, seconds: 4 });
  log("measuring heavy requests, two at a time");
  const cpu = (): number => stack.pids().reduce((sum, pid) => sum + cpuSecondsOf(pid), 0);
  const cpuBefore = cpu();
  const unloaded = await runBurst(burst);
  const unloadedCpu = cpu() - cpuBefore;
  await sleep(3_000);
  const rss = startRss(stack);
  report("unloaded", [
    ["served per s", (served(unloaded) / unloaded.servedSeconds).toFixed(2)],
    ["served per s of processor time", (served(unloaded) / unloadedCpu).toFixed(2)],
    ["latency", ms(unloaded.served)],
    ["bytes per response", String(unloaded.bytesPerServed)],
    ["statuses", JSON.stringify(unloaded.statuses)],
    ["RSS MiB", rss.now().toFixed(0)],
  ]);
  if (options.unloaded) return;
  if (options.rejections) {
    const { microseconds, statuses } = await measureRejections({
      port: Number(port),
      request: heavy,
      cpuSeconds: cpu,
    });
    report("rejections alone", [
      ["processor time of a rejection", `${microseconds.toFixed(0)} µs`],
      ["statuses", statuses],
    ]);
    return;
  }
  const before = rss.now();

  using lightClient = startLoadClient();
  using livezClient = startLoadClient();
  const startProbes = (seconds: number) => {
    const common = {
      port: Number(port),
      codes: [],
      bodies: [],
      seconds,
      after: "",
      connections: 64,
    };
    const livez = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    return Promise.all([
      lightClient.run({ ...common, before: light, ratePerSecond: LIGHT_PER_SECOND }),
      livezClient.run({ ...common, before: livez, ratePerSecond: LIVEZ_PER_SECOND }),
    ]).catch((error: unknown) => {
      log(`the probes failed: ${String(error)}`);
    });
  };
  log("measuring heavy requests, two at a time, beside light ones");
  const probesAlone = startProbes(UNLOADED_SECONDS);
  const beside = await runBurst(burst);
  const [lightAlone, livezAlone] = (await probesAlone) ?? [];
  report("beside light requests", [
    ["served per s", (served(beside) / beside.servedSeconds).toFixed(2)],
    ["light requests", probe(lightAlone)],
    ["/livez", probe(livezAlone)],
  ]);
  const attackSeconds = Number(options.seconds);
  const probes = startProbes(Math.max(attackSeconds, 5) + 5);
  await sleep(2_000);
  log(`${options.requests} heavy requests at once`);
  await serverDelay(stack);
  const capture = await captureWire(Number(port), path.join(FOLDER, "wire.pcap"));
  const cpuAtStart = cpu();
  const attack = await runBurst({
    ...burst,
    connections: Number(options.requests),
    seconds: attackSeconds,
    isPolite: !options.impolite,
  });
  const attackCpu = cpu() - cpuAtStart;
  const delays = await serverDelay(stack);
  const wire = await capture?.stop();
  const [lightResult, livezResult] = (await probes) ?? [];
  await sleep(15_000);
  const onceEach: BurstSpec = { ...burst, connections: Number(options.requests), seconds: 0 };
  log("the same requests at once on open connections");
  const open = await observedBurst({ ...onceEach, isConnected: true });
  log("the same requests at once to a bare HTTP server");
  const bare = await burstOnBareServer(onceEach);
  const bareOpen = await burstOnBareServer({ ...onceEach, isConnected: true });
  const rate = served(attack) / attack.servedSeconds;
  report(`${options.requests} at once (${describeMachine()})`, [
    ["statuses", JSON.stringify(attack.statuses)],
    [
      "served per s",
      `${rate.toFixed(2)} in ${attack.servedSeconds.toFixed(1)} s, ${percentOf(rate, unloaded)} of unloaded, ${percentOf(rate, beside)} of beside light requests`,
    ],
    ["served per s of processor time", (served(attack) / attackCpu).toFixed(2)],
    ["latency of served", ms(attack.served)],
    ["latency of rejected", ms(attack.rejected)],
    ["latency of rejected, first requests", ms(attack.rejectedFirst)],
    ["the same, from sending", ms(attack.rejectedFirstSent)],
    ["the same, on the wire", wireLatencies(wire, ({ isFirst }) => isFirst)],
    ["latency of rejected, on the wire", wireLatencies(wire)],
    ["first requests to a bare HTTP server", ms(bare.rejectedFirst)],
    ["the same, from sending", ms(bare.rejectedFirstSent)],
    ["the same, on the wire", wireLatencies(bare.wire)],
    ["open connections", JSON.stringify(open.statuses)],
    ["rejected on open connections", ms(open.rejectedFirst)],
    ["the same, on the wire", wireLatencies(open.wire)],
    ["a bare HTTP server, open connections", ms(bareOpen.rejectedFirst)],
    ["the same, on the wire", wireLatencies(bareOpen.wire)],
    [
      "served while a request waited to be rejected",
      `p99 ${attack.servedBeforeRejection.p99}, max ${attack.servedBeforeRejection.max}`,
    ],
    ["event loop delay of the server", delays],
    ["event loop delay of the client", ms(attack.clientDelay)],
    ["light requests", probe(lightResult)],
    ["/livez", probe(livezResult)],
    [
      "RSS MiB before, peak, after",
      `${before.toFixed(0)}, ${rss.peak().toFixed(0)}, ${rss.now().toFixed(0)}`,
    ],
  ]);
}

const served = ({ statuses }: BurstResult): number => statuses["200"] ?? 0;

const percentOf = (rate: number, result: BurstResult): string =>
  `${((100 * rate * result.servedSeconds) / served(result)).toFixed(0)} %`;

const ms = ({ p50Ms, p99Ms, maxMs }: Pick<LoadResult, "p50Ms" | "p99Ms" | "maxMs">): string =>
  // Without any response there are no latencies: JSON has no NaN.
  !Number.isFinite(maxMs)
    ? "none"
    : `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, max ${maxMs.toFixed(0)} ms`;

const probe = (result: LoadResult | undefined): string =>
  result === undefined
    ? "failed"
    : `${ms(result)}, ${JSON.stringify(result.statuses)}, ${result.lost} lost`;

function report(title: string, rows: readonly (readonly string[])[]): void {
  process.stdout.write(`\n## ${title}\n\n${table(["what", "measured"], rows)}`);
}

function runBurst(spec: BurstSpec): Promise<BurstResult> {
  const child = fork(new URL("burst-process.ts", import.meta.url));
  return new Promise((resolve, reject) => {
    child.once("message", ({ result, error }: { result?: BurstResult; error?: string }) => {
      if (result === undefined) reject(new Error(error));
      else resolve(result);
    });
    child.once("exit", () => reject(new Error("the burst client ended early")));
    child.send(spec);
  });
}

type ObservedBurst = BurstResult & { readonly wire: WireTimes | undefined };

async function observedBurst(burst: BurstSpec): Promise<ObservedBurst> {
  const capture = await captureWire(burst.port, path.join(FOLDER, "wire.pcap"));
  const result = await runBurst(burst);
  return { ...result, wire: await capture?.stop() };
}

/** Of rejections, as the server's network interface saw them. */
function wireLatencies(
  wire: WireTimes | undefined,
  counts: (response: WireResponse) => boolean = () => true,
): string {
  if (wire === undefined) return "not captured: tcpdump does not start";
  const rejected = wire.responses.filter(({ status }) => status === 429 || status === 503);
  const times = rejected.filter(counts).map((response) => response.ms);
  const lost = wire.dropped === 0 ? "" : `, ${wire.dropped} packets lost`;
  return `${ms(latenciesOf(times))} (${times.length}${lost})`;
}

/** What rejections take on this machine when a server does nothing else, with a client on the same processors. */
async function burstOnBareServer(burst: BurstSpec): Promise<ObservedBurst> {
  const server = fork(new URL("bare-server.ts", import.meta.url));
  try {
    const [port] = (await once(server, "message")) as [number];
    // Its code is compiled, as that of the installation is.
    await runBurst({ ...burst, port, connections: 600, isConnected: false });
    return await observedBurst({ ...burst, port });
  } finally {
    server.disconnect();
  }
}

/** How late the event loops of the processes were since the last call. */
async function serverDelay(stack: Stack): Promise<string> {
  const delays = await Promise.all(
    Object.entries(stack.metrics).map(async ([name, url]) => {
      const text = await (await fetch(url)).text();
      const value = (metric: string): string => {
        const found = new RegExp(`^nodejs_eventloop_lag_${metric}_seconds (.+)$`, "m").exec(text);
        return `${metric} ${(Number(found?.[1]) * 1000).toFixed(1)} ms`;
      };
      return `${name} ${["p50", "p99", "max"].map(value).join(", ")}`;
    }),
  );
  return delays.join("; ");
}

/** The memory of all processes of the installation. */
function startRss(stack: Stack) {
  let peak = 0;
  const now = (): number => {
    try {
      return stack.pids().reduce((sum, pid) => sum + residentMiB(pid), 0);
    } catch {
      return Number.NaN;
    }
  };
  setInterval(() => {
    peak = Math.max(peak, now());
  }, 50).unref();
  return { now, peak: () => peak };
}

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

await main();
