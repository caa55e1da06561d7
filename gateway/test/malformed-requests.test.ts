import { connect } from "node:net";

import { create } from "@bufbuild/protobuf";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import {
  type CreateVoucherRequest,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const gateway = await startTestGateway({
  implementations: [
    stubService(CategoryService, {
      async createCategory() {
        return create(CategorySchema);
      },
    }),
    stubService(VoucherService, {
      async createVoucher({ code }: CreateVoucherRequest) {
        return create(VoucherSchema, { id: "v_1", ...(code !== undefined && { code }) });
      },
      async getVoucher({ code }: { code: string }) {
        if (code === "broken") throw new Error("secret detail of a bug");
        return create(VoucherSchema, { id: "v_1", code });
      },
    }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
const JSON_HEADERS = { ...headers, "Content-Type": "application/json" };

function expectError(
  response: Awaited<ReturnType<typeof send>>,
  status: number,
  key: string,
): void {
  expect(response.json).toMatchObject({ code: status, key, message: expect.any(String) });
  expect(response.status).toBe(status);
  expect(response.json.request_id).toMatch(/^v-[0-9a-f]{18}$/);
  expect(response.headers.get("x-request-id")).toBe(response.json.request_id);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("cache-control")).toBe("no-store");
}

describe("a path", () => {
  test.each(["/", "/v1", "/v2/vouchers", "/v1/vouchers/a/b/c", "/v1//vouchers", "/favicon.ico"])(
    "%s is 404",
    async (path) => {
      expectError(await send(gateway.url + path, "GET", { headers }), 404, "not_found");
    },
  );

  test.each([
    ["DELETE", "/v1/vouchers", "GET, HEAD, POST"],
    ["PATCH", "/v1/vouchers/x", "DELETE, GET, HEAD, POST, PUT"],
    ["GET", "/v1/oauth/token", "POST"],
    ["POST", "/livez", "HEAD, GET"],
  ])("does not accept %s %s", async (method, path, allow) => {
    const response = await send(gateway.url + path, method, { headers });
    expectError(response, 405, "method_not_allowed");
    expect(response.headers.get("allow")).toBe(allow);
  });

  test.each(["%zz", "%ff", "%00", "a%", "%ed%a0%80"])("with %s is rejected", async (code) => {
    const response = await send(`${gateway.url}/v1/vouchers/${code}`, "GET", { headers });
    expectError(response, 400, "invalid_payload");
  });

  test.each(["50% off", "a/b", "#1", "ä€🎁", "a b", "a..b", "%41"])(
    "can contain the encoded code %j",
    async (code) => {
      const encoded = encodeURIComponent(code).replaceAll(".", "%2E");
      const response = await raw(
        `GET /v1/vouchers/${encoded} HTTP/1.1\r\nHost: x\r\n${lines(headers)}Connection: close\r\n\r\n`,
      );
      expect(response).toMatch(/^HTTP\/1\.1 200 /);
      expect(JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4)).code).toBe(code);
    },
  );

  test("may end in a slash, and HEAD is GET without a body", async () => {
    const get = await send(`${gateway.url}/v1/vouchers/x/`, "GET", { headers });
    const head = await send(`${gateway.url}/v1/vouchers/x`, "HEAD", { headers });
    expect(get.status).toBe(200);
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("content-length")).toBe(get.headers.get("content-length"));
  });

  test("cannot be overridden by a header", async () => {
    const response = await send(`${gateway.url}/v1/vouchers/x`, "GET", {
      headers: { ...headers, "X-HTTP-Method-Override": "DELETE" },
    });
    expect(response.status).toBe(200);
  });
});

describe("a body", () => {
  const post = (body: string | Uint8Array, extra: Record<string, string> = {}) =>
    send(`${gateway.url}/v1/vouchers`, "POST", { headers: { ...JSON_HEADERS, ...extra }, body });

  test.each([
    ["cut off", '{"type": "GIFT_VOUCHER"'],
    ["not JSON", "type=GIFT_VOUCHER"],
    ["NaN", '{"type": NaN}'],
    ["an array", "[]"],
    ["a string", '"x"'],
    ["deep", "[".repeat(5_000)],
    ["with a prototype", '{"__proto__": {"x": 1}, "type": "GIFT_VOUCHER"}'],
    ["with a key twice", '{"type": "GIFT_VOUCHER", "type": "LOYALTY_CARD"}'],
    ["with NUL", '{"type": "GIFT_VOUCHER", "code": "a\\u0000b"}'],
    ["with half a character", '{"type": "GIFT_VOUCHER", "code": "\\ud800"}'],
    ["with 1e400", '{"type": "GIFT_VOUCHER", "gift": {"amount": 1e400}}'],
    ["with the wrong type", '{"type": "GIFT_VOUCHER", "code": 5}'],
  ])("that is %s is rejected", async (_name, body) => {
    expectError(await post(body), 400, "invalid_payload");
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  test("that is not UTF-8 is rejected", async () => {
    expectError(await post(Uint8Array.from([0x7b, 0xff, 0x7d])), 400, "invalid_payload");
  });

  test.each([
    ["text", { "Content-Type": "text/plain" }],
    ["a form", { "Content-Type": "application/x-www-form-urlencoded" }],
    ["JSON in another charset", { "Content-Type": "application/json; charset=latin1" }],
    ["compressed JSON", { "Content-Encoding": "gzip" }],
  ])("of type %s is rejected", async (_name, extra: Record<string, string>) => {
    expectError(await post('{"type":"GIFT_VOUCHER"}', extra), 415, "unsupported_media_type");
  });

  test.each([
    "application/json",
    "application/json;charset=UTF-8",
    'Application/JSON; charset="utf-8"',
  ])("of type %s is accepted", async (type) => {
    const response = await post('{"type":"GIFT_VOUCHER"}', { "Content-Type": type });
    expect(response.status).toBe(200);
  });

  test("of a request that does not accept JSON is rejected", async () => {
    const response = await post('{"type":"GIFT_VOUCHER"}', { Accept: "text/html" });
    expectError(response, 406, "not_acceptable");
  });

  test("that is empty is parsed as an empty object for any content type", async () => {
    const response = await send(`${gateway.url}/v1/categories`, "POST", { headers });
    expectError(response, 400, "invalid_payload");
    expect(response.json.details).toBe("Payload should have required property 'name'");
  });

  test("of more than 256 KiB is rejected before it is read", async () => {
    const response = await post(JSON.stringify({ code: "a".repeat(300_000) }));
    expectError(response, 413, "payload_too_large");
    const declared = await raw(
      `POST /v1/vouchers HTTP/1.1\r\nHost: x\r\n${lines(JSON_HEADERS)}Content-Length: 10000000\r\n\r\n{`,
    );
    expect(declared).toMatch(/^HTTP\/1\.1 413 /);
  });

  test("of endless chunks is rejected once it is too large", async () => {
    const chunk = `10000\r\n${"a".repeat(65_536)}\r\n`;
    const response = await raw(
      `POST /v1/vouchers HTTP/1.1\r\nHost: x\r\n${lines(JSON_HEADERS)}Transfer-Encoding: chunked\r\n\r\n` +
        chunk.repeat(300),
    );
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
    expect(response).toMatch(/"key":"payload_too_large"/);
  });

  test("of a megabyte in fifty concurrent requests does not block others", async () => {
    const big = JSON.stringify({ code: "a".repeat(1_000_000) });
    const responses = await Promise.all(Array.from({ length: 50 }, () => post(big)));
    for (const { status } of responses) expect(status).toBe(413);
    expect((await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers })).status).toBe(200);
  });
});

describe("the rest of a body after the response", () => {
  const LENGTH = 20_000;
  /** Sends a body in parts, without credentials; resolves to how much was sent when the connection ended. */
  const sendInParts = async (bytes: number, everyMs: number): Promise<number> => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.resume();
    socket.write(`POST /v1/vouchers HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      if (socket.destroyed) return;
      sent += bytes;
      socket.write("x".repeat(bytes));
      if (sent === LENGTH) {
        clearInterval(timer);
        socket.end();
      }
    }, everyMs);
    await ended;
    clearInterval(timer);
    return sent;
  };

  test("may arrive steadily, but not byte by byte", async () => {
    const [steady, slow] = await Promise.all([sendInParts(4_000, 1_000), sendInParts(1, 200)]);
    expect(steady).toBe(LENGTH);
    expect(slow).toBeLessThan(50);
  });
});

describe("bytes on the socket", () => {
  test.each([
    ["that are not HTTP", "nonsense\r\n\r\n", 400],
    [
      "with two lengths",
      "POST /v1/vouchers HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
    ],
    [
      "with length and chunks",
      "POST /v1/vouchers HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
    ],
    [
      "with a broken chunk",
      "POST /v1/vouchers HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      400,
    ],
    [
      "with a control character in a header",
      "GET / HTTP/1.1\r\nHost: x\r\nX-App-Id: a\u0001b\r\n\r\n",
      400,
    ],
    [
      "with 64 KiB of headers",
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(65_536)}\r\n\r\n`,
      431,
    ],
    [
      "with 200 headers",
      `GET / HTTP/1.1\r\nHost: x\r\n${"A: b\r\n".repeat(200)}Connection: close\r\n\r\n`,
      431,
    ],
    ["without a host", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    [
      "with two hosts",
      "GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n",
      400,
    ],
    [
      "with a second authorization",
      `GET /v1/vouchers/x HTTP/1.1\r\nHost: x\r\n${lines(headers)}authorization: Bearer y\r\nConnection: close\r\n\r\n`,
      400,
    ],
    [
      "with an unknown expectation",
      `POST /v1/vouchers HTTP/1.1\r\nHost: x\r\n${lines(headers)}Expect: foo\r\nConnection: close\r\n\r\n`,
      417,
    ],
    ["that ask for a tunnel", "CONNECT other.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
  ])("%s get an Error object", async (_name, bytes, status) => {
    const response = await raw(bytes);
    expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const json = JSON.parse(response.slice(response.indexOf("\r\n\r\n") + 4));
    expect(json).toMatchObject({ code: status, request_id: expect.stringMatching(/^v-/) });
    expect(response.toLowerCase()).toContain(`x-request-id: ${json.request_id}`);
  });

  test("in absolute form address the same path", async () => {
    const response = await raw(
      `GET http://other.example/v1/vouchers/x HTTP/1.1\r\nHost: x\r\n${lines(headers)}Connection: close\r\n\r\n`,
    );
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test("a bug is a 500 without its details", async () => {
  const response = await send(`${gateway.url}/v1/vouchers/broken`, "GET", { headers });
  expectError(response, 500, "internal_error");
  expect(response.text).not.toContain("secret detail");
});

test("the caller's request id is not used as ours", async () => {
  const response = await send(`${gateway.url}/v1/vouchers/x`, "GET", {
    headers: { ...headers, "X-Request-Id": "v-aaaaaaaaaaaaaaaaaa" },
  });
  expect(response.headers.get("x-request-id")).toMatch(/^v-[0-9a-f]{18}$/);
  expect(response.headers.get("x-request-id")).not.toBe("v-aaaaaaaaaaaaaaaaaa");
});

const lines = (all: Record<string, string>): string =>
  Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

/** Sends raw bytes and returns everything received until the connection closes. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(gateway.gateway.port, "127.0.0.1");
  let response = "";
  socket.on("data", (chunk: Buffer) => (response += chunk.toString()));
  // A reset closes it as well; bytes received before count.
  socket.on("error", () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.on("close", resolve));
  return response;
}
