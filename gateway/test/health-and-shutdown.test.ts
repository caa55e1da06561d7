import { Agent, get, request } from "node:http";

import { create } from "@bufbuild/protobuf";
import { VoucherSchema, VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { runInterleaved, UNLIMITED } from "@scrip/rpc";
import { afterAll, expect, test } from "vitest";

import { newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices, stubService } from "./service-stubs.ts";

const gateway = await startTestGateway({ implementations: stubAllServices() });
afterAll(() => gateway[Symbol.asyncDispose]());

test("reports liveness and readiness", async () => {
  expect(await send(`${gateway.url}/livez`, "GET")).toMatchObject({ status: 200 });
  expect(await send(`${gateway.url}/readyz`, "GET")).toMatchObject({
    status: 200,
    json: { status: "ready" },
  });
});

test("accepts many concurrent connections while long work continues in slices", async () => {
  const CONNECTIONS = 200;
  let isOver = false;
  let pauses = 0;
  function* longWork(): Generator<void, void> {
    for (let lastStep = performance.now(); !isOver; lastStep = performance.now()) {
      yield;
      // A step that begins later than the end of the one before follows a pause.
      if (performance.now() - lastStep > 0.05) pauses += 1;
    }
  }
  const work = runInterleaved(longWork(), UNLIMITED);
  await Promise.all(
    Array.from(
      { length: CONNECTIONS },
      () =>
        new Promise<void>((resolve, reject) => {
          get(`${gateway.url}/livez`, { agent: false }, (response) => {
            response.resume().once("end", resolve);
          }).once("error", reject);
        }),
    ),
  );
  isOver = true;
  await work;
  // With a slice for each accepted connection there would be as many.
  expect(pauses).toBeLessThan(CONNECTIONS / 2);
});

test("measures requests by route, not by path", async () => {
  await send(`${gateway.url}/v1/vouchers/SECRET-CODE`, "GET");
  const text = await gateway.metrics.text();
  expect(text).toMatch(
    /http_request_duration_seconds_count\{method="GET",route="\/v1\/vouchers\/\{code\}",status="4xx"\} 1/,
  );
  expect(text).not.toContain("SECRET-CODE");
});

test("serves no metrics on the port of the API", async () => {
  expect(await send(`${gateway.url}/metrics`, "GET")).toMatchObject({
    status: 404,
    json: { key: "not_found" },
  });
});

test("serves the OpenAPI document and a reference page that loads no external resources", async () => {
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

test("returns deadline_exceeded for a call that hangs, and the response of the service to a later repeat", async () => {
  let finish = (): void => {};
  const work = new Promise<void>((resolve) => (finish = resolve));
  await using slow = await startTestGateway({
    deadlineMs: 300,
    implementations: [
      stubService(VoucherService, {
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
  finish();
  expect(await post()).toMatchObject({ status: 200, json: { id: "v_1" } });
});

test("finishes running requests during shutdown and accepts no new ones", async () => {
  const leaving = await startTestGateway({ implementations: stubAllServices() });
  const { url } = leaving;
  expect((await send(`${url}/livez`, "GET")).status).toBe(200);
  await leaving[Symbol.asyncDispose]();
  await expect(send(`${url}/livez`, "GET")).rejects.toThrow("fetch failed");
});

test("closes a keep-alive connection after its last response during shutdown", async () => {
  const leaving = await startTestGateway({ implementations: stubAllServices() });
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

test("keeps serving for the drain time while it is not ready", async () => {
  const leaving = await startTestGateway({
    implementations: stubAllServices(),
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

/** A client that reuses its connection where possible. */
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
