import type { EventEmitter } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { create } from "@bufbuild/protobuf";
import {
  ListVouchersRequestSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createServiceTransport, createTokenSource, invoke, serviceCall } from "@scrip/rpc";
import fc from "fast-check";
import { expect, test } from "vitest";

import { newProject } from "../stack/api.ts";
import { outputOf } from "../stack/compositions.ts";
import { startStack } from "../stack/stack.ts";

const MIB = 1024 * 1024;
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 40);
/** Most of them need two. */
const ROUNDS = 6;
/** Connections of a round have ended after this time. */
const SETTLE_MS = 500;
const SEED = Number(process.env["FUZZ_SEED"] ?? 71);

test("the gRPC port withstands hostile connections: later calls work, memory is bounded, no error is unexpected", async () => {
  await using stack = await startStack("distributed");
  const target = new URL(stack.grpc["voucher"] ?? "");
  const keys = stack.serviceKeys;
  const claims = { name: "gateway", internal: true, scopes: [], projects: ["*"] };
  const token = createTokenSource(keys, claims);
  const authorization = `Bearer ${await token("voucher")}`;
  const { id: projectId } = await newProject(stack);
  const call = { ...serviceCall(), project: { ...serviceCall().project, id: projectId } };
  const list = async (): Promise<void> => {
    using transport = createServiceTransport({ baseUrl: target.href, audience: "voucher", token });
    const { listVouchers } = VoucherService.method;
    const request = create(ListVouchersRequestSchema);
    const deadline = Date.now() + DEADLINE_MS;
    await invoke(transport, listVouchers, request, { ...call, deadline });
  };
  const memory = async (): Promise<number> => {
    const text = await (await fetch(stack.metrics["voucher"] ?? "")).text();
    const [, bytes] = /^process_resident_memory_bytes (\S+)$/m.exec(text) ?? [];
    return Number(bytes);
  };
  await list();
  const attack = (each: Attack): Promise<void> => run(each, { target, authorization });
  const pids = stack.pids();
  const withstand = (seed: number): Promise<void> =>
    fc.assert(
      fc.asyncProperty(fc.array(attacks, { minLength: 1, maxLength: 8 }), async (wave) => {
        await Promise.all(wave.map(attack));
        await list();
      }),
      { numRuns: RUNS, seed },
    );
  // The heap grows until it is large enough for such a load; a leak would grow in every round.
  const growth: number[] = [];
  for (let round = 0; round < ROUNDS && !growth.some((bytes) => bytes < 64 * MIB); round += 1) {
    const before = await memory();
    await withstand(SEED + 2 * round);
    await withstand(SEED + 2 * round + 1);
    await sleep(SETTLE_MS);
    growth.push((await memory()) - before);
  }

  expect(Math.min(...growth), `bytes by round: ${growth.join(", ")}`).toBeLessThan(64 * MIB);
  expect(stack.pids()).toEqual(pids);
  expect(outputOf(stack).split("\n").filter(isUnexpected)).toEqual([]);
});

/** Of a call, or of Node.js itself, which prints only crashes. */
const isUnexpected = (line: string): boolean =>
  /"key":"internal_error"|"level":"fatal"|^\w*Error\b/.test(line);

/** The longest deadline that a service accepts. */
const DEADLINE_MS = 9_900;

/** How long an attacker listens before it closes the connection. */
const LISTEN_MS = 30;

type Attack =
  /** Bytes on a connection, behind the HTTP/2 preface or not. */
  | { readonly kind: "bytes"; readonly preface: boolean; readonly bytes: Uint8Array }
  /** Frames whose headers may lie about what follows. */
  | { readonly kind: "frames"; readonly frames: readonly Frame[]; readonly repeat: number }
  /** A header block that goes on and on. */
  | { readonly kind: "continuations"; readonly count: number; readonly fragment: Uint8Array }
  /** A gRPC call with any headers and any body. */
  | ({ readonly kind: "call" } & HostileCall)
  /** Calls that are reset as soon as they are opened. */
  | { readonly kind: "resets"; readonly count: number };

type Frame = {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Uint8Array;
  /** Difference between the length that the header announces and the payload's. */
  readonly lie: number;
};

type HostileCall = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly isAuthorized: boolean;
  readonly messages: readonly Message[];
  readonly end: "end" | "reset" | "open";
};

type Message = {
  readonly flags: number;
  readonly payload: Uint8Array;
  /** What the prefix announces; default: the truth. */
  readonly length: number | undefined;
};

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const kind = <Kind extends Attack["kind"]>(name: Kind) => fc.constant(name);

const frame: fc.Arbitrary<Frame> = fc.record({
  type: fc.oneof(fc.nat(9), fc.nat(255)),
  flags: fc.nat(255),
  stream: fc.oneof(fc.constantFrom(0, 1, 3), fc.nat(0x7f_ff_ff_ff)),
  payload: bytes(300),
  lie: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -5, max: 100_000 })),
});

const SERVICE = "/scrip.voucher.v1.VoucherService";

const hostileCall: fc.Arbitrary<HostileCall> = fc.record({
  path: fc.oneof(
    fc.constantFrom(
      `${SERVICE}/ListVouchers`,
      `${SERVICE}/CreateVoucher`,
      "/scrip.voucher.v1.RedemptionService/CommitRedemptions",
      "/grpc.health.v1.Health/Check",
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      `${SERVICE}/Unknown`,
      "/",
      "//..%2f",
    ),
    fc.webPath(),
  ),
  headers: fc.record(
    {
      "content-type": fc.constantFrom(
        "application/grpc",
        "application/grpc+proto",
        "application/grpc+json",
        "application/grpc-web",
        "application/json",
        "text/plain",
        "",
      ),
      "grpc-encoding": fc.constantFrom("identity", "gzip", "br", "unknown"),
      "grpc-timeout": fc.constantFrom("1S", "0n", "99999999H", "-1S", "abc", "1", "9".repeat(50)),
      "x-scrip-project": fc
        .string({ unit: "grapheme-ascii", maxLength: 40 })
        .map((text) => text.trim()),
      "x-scrip-rejection-bin": fc.base64String({ maxLength: 200 }),
      "x-scrip-now": fc.constantFrom("0", "-1", "x", "9".repeat(30)),
      "x-padding": fc.nat(100_000).map((length) => "a".repeat(length)),
    },
    { requiredKeys: [] },
  ),
  isAuthorized: fc.boolean(),
  messages: fc.array(
    fc.record({
      flags: fc.constantFrom(0, 0, 0, 1, 2, 128, 255),
      payload: fc.oneof(
        bytes(500),
        fc.integer({ min: 1, max: 5 }).map((mib) => new Uint8Array(mib * MIB)),
      ),
      length: fc.constantFrom(undefined, undefined, 0, 1, 100_000, 5 * MIB, 0xff_ff_ff_ff),
    }),
    { maxLength: 3 },
  ),
  end: fc.constantFrom("end", "end", "reset", "open"),
});

const attacks: fc.Arbitrary<Attack> = fc.oneof(
  fc.record({ kind: kind("bytes"), preface: fc.boolean(), bytes: bytes(2_000) }),
  fc.record({
    kind: kind("frames"),
    frames: fc.array(frame, { minLength: 1, maxLength: 20 }),
    repeat: fc.constantFrom(1, 1, 1, 500),
  }),
  fc.record({
    kind: kind("continuations"),
    count: fc.nat(2_000),
    fragment: bytes(100),
  }),
  hostileCall.map((call) => ({ kind: "call" as const, ...call })),
  hostileCall.map((call) => ({ kind: "call" as const, ...call })),
  fc.record({ kind: kind("resets"), count: fc.nat(500) }),
);

type Victim = { readonly target: URL; readonly authorization: string };

function run(attack: Attack, victim: Victim): Promise<void> {
  switch (attack.kind) {
    case "bytes":
      return send(victim, [...(attack.preface ? [PREFACE] : []), Buffer.from(attack.bytes)]);
    case "frames": {
      const frames = Buffer.concat(attack.frames.map(toBytes));
      return send(victim, [
        PREFACE,
        SETTINGS,
        ...Array.from({ length: attack.repeat }, () => frames),
      ]);
    }
    case "continuations": {
      const { fragment: payload, count } = attack;
      const opened = { type: HEADERS, flags: 0, stream: 1, payload, lie: 0 };
      const next = toBytes({ ...opened, type: CONTINUATION });
      const endless = Array.from({ length: count }, () => next);
      return send(victim, [PREFACE, SETTINGS, toBytes(opened), ...endless]);
    }
    case "call":
      return inSession(victim, (session) => sendCall(session, attack, victim));
    case "resets":
      return inSession(victim, async (session) => {
        const headers = { ":method": "POST", ":path": `${SERVICE}/ListVouchers` };
        for (let opened = 0; opened < attack.count && !session.destroyed; opened += 1) {
          const stream = session.request({ ...headers, ...GRPC }).on("error", () => {});
          stream.close(constants.NGHTTP2_CANCEL);
        }
      });
  }
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const [HEADERS, SETTINGS_TYPE, CONTINUATION] = [1, 4, 9];
const GRPC = { "content-type": "application/grpc+proto", te: "trailers" };

function toBytes({ type, flags, stream, payload, lie }: Frame): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(Math.max(0, payload.length + lie), 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

const SETTINGS = toBytes({
  type: SETTINGS_TYPE,
  flags: 0,
  stream: 0,
  payload: new Uint8Array(),
  lie: 0,
});

/** Writes the chunks to a connection, whatever the server does, and closes it. */
async function send({ target }: Victim, chunks: readonly Buffer[]): Promise<void> {
  const socket = connectTcp(Number(target.port), target.hostname);
  socket.on("error", () => {}).resume();
  const closed = closeOf(socket);
  for (const chunk of chunks) socket.write(chunk);
  await Promise.race([closed, pause()]);
  socket.destroy();
  await closed;
}

async function inSession(
  { target }: Victim,
  use: (session: ClientHttp2Session) => Promise<void>,
): Promise<void> {
  const session = connectHttp2(target.origin);
  session.on("error", () => {});
  const closed = closeOf(session);
  await use(session);
  await Promise.race([closed, pause()]);
  session.destroy();
  await closed;
}

async function sendCall(
  session: ClientHttp2Session,
  { path, headers, isAuthorized, messages, end }: HostileCall,
  { authorization }: Victim,
): Promise<void> {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    ...GRPC,
    ...headers,
    ...(isAuthorized && { authorization }),
  });
  stream.on("error", () => {}).resume();
  const closed = closeOf(stream);
  for (const { flags, payload, length } of messages) {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt8(flags, 0);
    prefix.writeUInt32BE(length ?? payload.length, 1);
    if (!stream.destroyed) stream.write(Buffer.concat([prefix, payload]));
  }
  if (end === "end") stream.end();
  if (end === "reset") stream.close(constants.NGHTTP2_CANCEL);
  await Promise.race([closed, pause()]);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LISTEN_MS));

/** Resolves also after an error. */
const closeOf = (emitter: EventEmitter): Promise<void> =>
  new Promise((resolve) => emitter.once("close", () => resolve()));
