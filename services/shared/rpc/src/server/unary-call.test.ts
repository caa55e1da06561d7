import { once } from "node:events";
import { connect } from "node:http2";

import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { compressionGzip, createGrpcTransport } from "@connectrpc/connect-node";
import { VoucherSchema, VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";

import { gatewayTokens, serveVouchers } from "../../test/voucher-server.ts";
import { generateServiceKey } from "../auth/service-token.ts";
import type { Call } from "../call/call.ts";
import { frame } from "../call/frame.ts";

const MIB = 1024 * 1024;

const keys = await generateServiceKey();
const getVoucher = async ({ code }: { readonly code: string }, call: Call) => {
  if (code === "LATE") await vi.waitUntil(() => call.isAbandoned?.(), 4_000);
  else if (call.isAbandoned?.() === true) throw new Error("abandoned");
  return create(VoucherSchema, { code: code === "LARGE" ? "L".repeat(5 * MIB) : code });
};
const server = await serveVouchers({ keys, handlers: { getVoucher } });
afterAll(() => server[Symbol.asyncDispose]());

const authorization = `Bearer ${await gatewayTokens(keys)("voucher")}`;

test.each([
  ["plain", {}],
  ["compressed", { sendCompression: compressionGzip, compressMinBytes: 0 }],
  ["JSON", { useBinaryFormat: false }],
])("serves clients whose messages are %s", async (_name, format) => {
  const transport = createGrpcTransport({ baseUrl: server.url, ...format });
  const vouchers = createClient(VoucherService, transport);
  const code = "A".repeat(200);
  const voucher = await vouchers.getVoucher({ code }, { headers: { authorization } });
  expect(voucher.code).toBe(code);
});

const request = (code: string) => {
  const field = 0x0a;
  return frame(Buffer.from([field, code.length, ...Buffer.from(code)]));
};

const HEADERS = {
  ":method": "POST",
  ":path": "/scrip.voucher.v1.VoucherService/GetVoucher",
  "content-type": "application/grpc",
  te: "trailers",
  authorization,
};

test.each([
  ["no message", Buffer.alloc(0), {}, "12"],
  ["two messages", Buffer.concat([request("A"), request("B")]), {}, "12"],
  ["a message that is not protobuf", frame(Buffer.from([0xff])), {}, "3 invalid_payload"],
  ["a text that is not UTF-8", frame(Buffer.from([0x0a, 1, 0xff])), {}, "3 invalid_payload"],
  ["a message that is too large", frame(Buffer.alloc(4 * MIB + 1)), {}, "8 payload_too_large"],
  ["a time limit that is none", request("A"), { "grpc-timeout": "soon" }, "3"],
  ["a time limit that is over", request("A"), { "grpc-timeout": "1n" }, "4 deadline_exceeded"],
])("rejects %s", async (_name, body, headers, error) => {
  const [status, key = ""] = error.split(" ");
  const session = connect(server.url);
  const stream = session.request({ ...HEADERS, ...headers });
  stream.on("error", () => {});
  stream.end(body);
  const [response] = await once(stream, "response");
  expect(response["grpc-status"]).toBe(status);
  const details = Buffer.from(String(response["grpc-status-details-bin"] ?? ""), "base64");
  expect(details.toString()).toContain(key);
  session.destroy();
});

test("an error has a request id, also of a call whose time limit is over", async () => {
  const session = connect(server.url);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ...HEADERS, "grpc-timeout": "1n" });
  stream.on("error", () => {});
  stream.end(request("A"));
  const [response] = await once(stream, "response");
  const details = Buffer.from(String(response["grpc-status-details-bin"]), "base64").toString();
  expect(details).toMatch(/v-[0-9a-f]{18}/);
});

test.each(["", "?query"])("rejects a call without a token before its body: %s", async (query) => {
  const session = connect(server.url);
  onTestFinished(() => session.destroy());
  const path = `${HEADERS[":path"]}${query}`;
  const stream = session.request({ ...HEADERS, ":path": path, authorization: "Bearer none" });
  stream.write(request("A").subarray(0, 3));
  const [response] = await once(stream, "response");
  expect(response["grpc-status"]).toBe("16");
});

test.each([
  ["is left", "A", "9000500u"],
  ["ends", "LATE", "700500u"],
])("a time limit in microseconds %s", async (_name, code, limit) => {
  const session = connect(server.url);
  const stream = session.request({ ...HEADERS, "grpc-timeout": limit });
  stream.end(request(code));
  const [response] = await once(stream, "response");
  expect(response["grpc-status"]).toBeUndefined();
  session.destroy();
});

test.each([
  { deadline: "a minute", limit: "60S", encoding: "identity" },
  { deadline: "a minute, in a call that Connect serves", limit: "60S", encoding: "gzip" },
  { deadline: "a year", limit: "8760H", encoding: "gzip" },
])("callers may set a longer deadline than calls have: $deadline", async ({ limit, encoding }) => {
  const session = connect(server.url);
  onTestFinished(() => session.destroy());
  const headers = { ...HEADERS, "grpc-timeout": limit, "grpc-encoding": encoding };
  const stream = session.request(headers);
  stream.end(request("A"));
  const [response] = await once(stream, "response");
  expect(response["grpc-status"] ?? "0").toBe("0");
});

test("large responses that a caller does not read keep it from no other call", async () => {
  const session = connect(server.url);
  const send = (code: string) => {
    const stream = session.request(HEADERS);
    stream.end(request(code));
    return stream;
  };
  const unread = ["LARGE", "LARGE", "LARGE"].map(send);
  await Promise.all(unread.map((stream) => once(stream, "response")));
  const [response] = await once(send("A"), "response");
  expect(response["grpc-status"]).toBeUndefined();
  session.destroy();
});
