import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Response times as the network interface sees them, so without the delays of a client that shares the processors:
 * from the first byte of a request that has arrived at the server to the first byte of its response. The time that a
 * connection waits to be accepted is a part of it.
 */
export type WireTimes = {
  readonly responses: readonly WireResponse[];
  /** Packets that were lost to the capture: with some, times may be wrong. */
  readonly dropped: number;
};

export type WireResponse = {
  readonly status: number;
  /** Whether it is the first one of its connection. */
  readonly isFirst: boolean;
  readonly ms: number;
};

type WireCapture = { readonly stop: () => Promise<WireTimes> };

/** Headers of Ethernet, IP and TCP, and the status line. */
const SNAP_BYTES = 128;
const BUFFER_KIB = 65_536;
const START_MS = 5_000;

/** Captures the traffic of a port with tcpdump, which needs the right to do so; undefined where it does not start. */
export async function captureWire(port: number, file: string): Promise<WireCapture | undefined> {
  const args = ["-i", "lo", "-n", "-s", `${SNAP_BYTES}`, "-B", `${BUFFER_KIB}`, "-w", file];
  const child = spawn("tcpdump", [...args, "tcp", "port", `${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let messages = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    messages += text;
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve()).once("error", () => resolve());
  });
  const started = (async () => {
    while (!messages.includes("listening on")) await once(child.stderr, "data");
    return true;
  })().catch(() => false);
  const hasStarted = await Promise.race([
    started,
    ended.then(() => false),
    sleep(START_MS, false, { ref: false }),
  ]);
  if (!hasStarted) {
    child.kill();
    return undefined;
  }
  return {
    async stop() {
      // The last packets are still in its buffer.
      await sleep(1_500);
      child.kill("SIGINT");
      await ended;
      const dropped = Number(/(\d+) packets dropped by kernel/.exec(messages)?.[1] ?? 0);
      return { responses: wireResponses(await readFile(file), port), dropped };
    },
  };
}

const FILE_HEADER = 24;
const PACKET_HEADER = 16;
const ETHERNET_HEADER = 14;
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) /;
const CONTINUE = 100;

/** Reads the requests and responses out of a capture of one HTTP server with one request at a time per connection. */
function wireResponses(capture: Buffer, port: number): readonly WireResponse[] {
  const responses: WireResponse[] = [];
  /** By the client's port: when the request in progress began to arrive. */
  const arrivedAt = new Map<number, number>();
  const responded = new Set<number>();
  for (const { ms, from, to, isOpening, payload } of packetsOf(capture)) {
    const isRequest = to === port;
    const client = isRequest ? from : to;
    if (isOpening && isRequest) {
      arrivedAt.delete(client);
      responded.delete(client);
    } else if (payload.length === 0) continue;
    else if (isRequest) {
      if (!arrivedAt.has(client)) arrivedAt.set(client, ms);
    } else {
      const since = arrivedAt.get(client);
      const status = Number(STATUS_LINE.exec(payload.toString("latin1", 0, 16))?.[1]);
      if (since === undefined || Number.isNaN(status) || status === CONTINUE) continue;
      responses.push({ status, isFirst: !responded.has(client), ms: ms - since });
      arrivedAt.delete(client);
      responded.add(client);
    }
  }
  return responses;
}

type Packet = {
  readonly ms: number;
  readonly from: number;
  readonly to: number;
  readonly isOpening: boolean;
  readonly payload: Buffer;
};

function* packetsOf(capture: Buffer): Generator<Packet> {
  for (let at = FILE_HEADER; at + PACKET_HEADER <= capture.length;) {
    const ms = capture.readUInt32LE(at) * 1_000 + capture.readUInt32LE(at + 4) / 1_000;
    const length = capture.readUInt32LE(at + 8);
    const packet = capture.subarray(at + PACKET_HEADER, at + PACKET_HEADER + length);
    at += PACKET_HEADER + length;
    const ip = packet.subarray(ETHERNET_HEADER);
    const tcp = ip.subarray(((ip[0] ?? 0) & 0x0f) * 4);
    if (tcp.length < 20) continue;
    const flags = tcp[13] ?? 0;
    yield {
      ms,
      from: tcp.readUInt16BE(0),
      to: tcp.readUInt16BE(2),
      isOpening: (flags & 0x02) !== 0,
      payload: tcp.subarray(((tcp[12] ?? 0) >> 4) * 4),
    };
  }
}
