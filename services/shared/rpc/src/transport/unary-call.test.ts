import { once } from "node:events";
import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

import { Code, ConnectError } from "@connectrpc/connect";
import { Http2SessionManager } from "@connectrpc/connect-node";
import { expect, test } from "vitest";

import { frame } from "../call/frame.ts";
import { failureOf } from "./call-failure.ts";
import { sendUnary } from "./unary-call.ts";

const OK = { ":status": 200, "content-type": "application/grpc+proto" };
const MESSAGE = Buffer.from("response");
const MAX_BYTES = 1_000;

/** Sends one call to a server that answers in this way. */
async function call(
  answer: (stream: ServerHttp2Stream) => void,
  { timeoutMs = 5_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const server = createServer().on("stream", (stream) => {
    stream.on("error", () => {});
    answer(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sessions = new Http2SessionManager(`http://127.0.0.1:${port}`);
  try {
    return await sendUnary(sessions, {
      path: "/service/Method",
      headers: {},
      message: Buffer.from("request"),
      timeoutMs,
      signal,
      maxBytes: MAX_BYTES,
    });
  } finally {
    sessions.abort();
    server.close();
  }
}

/** Responds with these bytes, then with these trailers. */
const respond =
  (body: Uint8Array, trailers: Record<string, string>) =>
  (stream: ServerHttp2Stream): void => {
    stream.respond(OK, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(body);
  };

const failure = (sent: Promise<unknown>): Promise<ConnectError> =>
  sent.then(
    () => new ConnectError("it did not fail", Code.Unknown),
    (error: unknown) => error as ConnectError,
  );

test("sends one message, and returns one in pieces of any size", async () => {
  const received: Buffer[] = [];
  const { message } = await call((stream) => {
    stream.on("data", (chunk: Buffer) => received.push(chunk));
    stream.respond(OK, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.on("end", () => {
      for (const byte of frame(MESSAGE)) stream.write(Buffer.of(byte));
      stream.end();
    });
  });
  expect(message).toEqual(MESSAGE);
  expect(Buffer.concat(received)).toEqual(frame(Buffer.from("request")));
});

test.each([
  ["in trailers", respond(Buffer.alloc(0), { "grpc-status": "5", "grpc-message": "no%20code" })],
  ["after a message", respond(frame(MESSAGE), { "grpc-status": "5", "grpc-message": "no%20code" })],
  [
    "in headers",
    (stream: ServerHttp2Stream) =>
      stream.respond(
        { ...OK, "grpc-status": "5", "grpc-message": "no%20code" },
        { endStream: true },
      ),
  ],
])("returns an error %s", async (_place, answer) => {
  expect(await failure(call(answer))).toMatchObject({ code: Code.NotFound, rawMessage: "no code" });
});

test.each([
  ["no message", respond(Buffer.alloc(0), { "grpc-status": "0" }), Code.Internal],
  ["half a message", respond(frame(MESSAGE).subarray(0, 8), { "grpc-status": "0" }), Code.Internal],
  [
    "an error that cannot be decoded",
    respond(Buffer.alloc(0), { "grpc-status": "5", "grpc-message": "%" }),
    Code.Internal,
  ],
  ["no status", respond(frame(MESSAGE), {}), Code.Internal],
  [
    "a message that is too large",
    respond(frame(Buffer.alloc(MAX_BYTES + 1)), { "grpc-status": "0" }),
    Code.ResourceExhausted,
  ],
  [
    "an error of a proxy",
    (stream: ServerHttp2Stream) => stream.respond({ ":status": 503 }, { endStream: true }),
    Code.Unavailable,
  ],
])("fails on %s", async (_name, answer, code) => {
  expect(await failure(call(answer))).toMatchObject({ code });
});

test.each([
  ["REFUSED_STREAM", "unsent"],
  ["CANCEL", "lost"],
  ["INTERNAL_ERROR", "lost"],
  ["NO_ERROR", "lost"],
] as const)("knows whether a stream closed with %s was executed", async (name, expected) => {
  const error = await failure(call((stream) => stream.close(constants[`NGHTTP2_${name}`])));
  expect(failureOf(error, undefined)).toBe(expected);
});

test("ends the stream when the time is over, and when the caller leaves", async () => {
  const closed: number[] = [];
  const never = (stream: ServerHttp2Stream): void =>
    void stream.on("close", () => closed.push(stream.rstCode));
  expect(await failure(call(never, { timeoutMs: 50 }))).toMatchObject({
    code: Code.DeadlineExceeded,
  });
  const leaving = new AbortController();
  const left = failure(
    call(
      (stream) => {
        never(stream);
        leaving.abort();
      },
      { signal: leaving.signal },
    ),
  );
  expect(await left).toMatchObject({ code: Code.Canceled });
  await expect.poll(() => closed).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
});

test("a call whose deadline has passed is not sent", async () => {
  let streams = 0;
  const sent = call(() => (streams += 1), { timeoutMs: -1 });
  expect(await failure(sent)).toMatchObject({ code: Code.DeadlineExceeded });
  expect(streams).toBe(0);
});
