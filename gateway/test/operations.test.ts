import { Agent, request } from "node:http";

import { create } from "@bufbuild/protobuf";
import { VoucherSchema, VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { everything, standIn } from "./service-stubs.ts";

const gateway = await startTestGateway({ implementations: everything() });
afterAll(() => gateway[Symbol.asyncDispose]());

test("it says that it lives and that it is ready", async () => {
  expect(await send(`${gateway.url}/livez`, "GET")).toMatchObject({ status: 200 });
  expect(await send(`${gateway.url}/readyz`, "GET")).toMatchObject({
    status: 200,
    json: { status: "ready" },
  });
});

test("it measures requests by route, never by code", async () => {
  await send(`${gateway.url}/v1/vouchers/SECRET-CODE`, "GET");
  const { text, headers } = await send(`${gateway.url}/metrics`, "GET");
  expect(headers.get("content-type")).toMatch(/^text\/plain/);
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/vouchers\/\{code\}",status="4xx"\} 1/,
  );
  expect(text).not.toContain("SECRET-CODE");
});

test("it serves the contract and a page for it that needs nothing from elsewhere", async () => {
  const { json } = await send(`${gateway.url}/openapi.json`, "GET");
  expect(json.openapi).toMatch(/^3\.1/);
  expect(Object.keys(json.paths)).toContain("/v1/vouchers/{code}/redemption");
  const page = await send(`${gateway.url}/docs/api`, "GET");
  expect(page.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; script-src 'self';/,
  );
  expect(page.headers.get("x-request-id")).toMatch(/^v-/);
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? "");
  expect(files.length).toBeGreaterThan(2);
  for (const file of files) {
    expect(file).toMatch(/^\//);
    expect((await send(gateway.url + file, "GET")).status).toBe(200);
  }
});

test("a call that does not end is answered in time, and its answer is kept for a repeat", async () => {
  let finish = (): void => {};
  const work = new Promise<void>((resolve) => (finish = resolve));
  await using slow = await startTestGateway({
    deadlineMs: 300,
    implementations: [
      standIn(VoucherService, {
        async createVoucher() {
          await work;
          return create(VoucherSchema, { id: "v_1" });
        },
      }),
    ],
  });
  const headers = {
    ...serverHeaders(slow.keys, await newToken(slow, slow.keys, "api")),
    "Idempotency-Key": "slow",
  };
  const post = () =>
    send(`${slow.url}/v1/vouchers`, "POST", { headers, body: { type: "GIFT_VOUCHER" } });
  expect(await post()).toMatchObject({ status: 504, json: { key: "deadline_exceeded" } });
  expect(await post()).toMatchObject({ status: 409, json: { key: "idempotency_in_progress" } });
  finish();
  await expect.poll(async () => (await post()).status).toBe(200);
});

test("on its way out it finishes what it has and takes nothing new", async () => {
  const leaving = await startTestGateway({ implementations: everything() });
  const { url } = leaving;
  expect((await send(`${url}/livez`, "GET")).status).toBe(200);
  await leaving[Symbol.asyncDispose]();
  await expect(send(`${url}/livez`, "GET")).rejects.toThrow("fetch failed");
});

test("a connection that is kept alive is told that it ends, and its request is answered", async () => {
  const leaving = await startTestGateway({ implementations: everything() });
  using agent = oneConnection();
  expect(await agent.get(`${leaving.url}/v1/x`)).toMatchObject({
    status: 404,
    connection: "keep-alive",
  });
  const left = leaving[Symbol.asyncDispose]();
  expect(await agent.get(`${leaving.url}/v1/x`)).toMatchObject({
    status: 404,
    connection: "close",
  });
  await left;
});

test("it serves for as long as load balancers need to learn that it leaves", async () => {
  const leaving = await startTestGateway({
    implementations: everything(),
    config: { drainSeconds: 2 },
  });
  const left = leaving[Symbol.asyncDispose]();
  for (const [path, status] of [
    ["/v1/x", 404],
    ["/readyz", 503],
    ["/livez", 200],
  ] as const) {
    using agent = oneConnection();
    expect(await agent.get(leaving.url + path)).toMatchObject({ status, connection: "close" });
  }
  await left;
  await expect(send(`${leaving.url}/livez`, "GET")).rejects.toThrow("fetch failed");
});

/** A client that uses the same connection again, where it may. */
function oneConnection() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    get: (url: string) =>
      new Promise<{ status: number | undefined; connection: string | undefined }>(
        (resolve, reject) => {
          const outgoing = request(url, { agent }, (response) => {
            const { statusCode: status, headers } = response;
            response.resume().on("end", () => resolve({ status, connection: headers.connection }));
          });
          outgoing.on("error", reject).end();
        },
      ),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
