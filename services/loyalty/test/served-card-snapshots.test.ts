import { setTimeout as sleep } from "node:timers/promises";

import { toErrorResponse } from "@scrip/errors";
import { newId } from "@scrip/ids";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import {
  type Call,
  clientOf,
  createAdmission,
  createServiceTransport,
  createTokenSource,
  DEFAULT_ADMISSION,
  generateServiceKey,
  serve,
} from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { asAdmin, startTcpProxy, testDatabase } from "@scrip/testing";
import { afterAll, beforeEach, expect, test } from "vitest";

import { CALLERS } from "../src/callers.ts";
import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { newCall } from "./builders.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const keys = await generateServiceKey();
const token = createTokenSource(keys, {
  name: "export",
  internal: true,
  scopes: [],
  projects: ["*"],
});

/** The keys of errors, and the causes of those that operators see. */
const reports: (string | undefined)[] = [];
beforeEach(() => void reports.splice(0));

const serveLoyalty = () =>
  serve({
    host: "127.0.0.1",
    port: 0,
    keys,
    admission: createAdmission(DEFAULT_ADMISSION, createMetrics({ withProcess: false })),
    codeGuessing: { blockedFor: () => 0, count: () => {}, alarms: () => 0 },
    onCall: ({ key }) => void reports.push(key),
    services: [
      {
        name: "loyalty",
        implementations: routes(createDeps(db)),
        findProject: ({ projectId }) => ({
          project: { id: projectId, timeZone: "UTC", caseSensitiveCodes: true },
          sandboxNow: null,
          deleted: false,
        }),
        callers: CALLERS,
        ready: async () => undefined,
        [Symbol.asyncDispose]: async () => {},
      },
    ],
  });
const server = await serveLoyalty();
afterAll(() => server[Symbol.asyncDispose]());

const transportTo = (baseUrl: string) =>
  createServiceTransport({ baseUrl, audience: "loyalty", token });
const transport = transportTo(server.url);
afterAll(() => transport[Symbol.dispose]());

const sessions = (): Promise<number> =>
  asAdmin(db.url, async (client) => {
    const { rows } = await client.query(
      `select from pg_stat_activity
        where datname = current_database() and application_name like '%bulk'`,
    );
    return rows.length;
  });

/** The names of a snapshot that is open, whose session exists. */
async function open(through = transport, call: Partial<Call> = {}) {
  const stream = clientOf(CardService, through).openCardSnapshot({}, newCall(call));
  const names = stream[Symbol.asyncIterator]();
  expect((await names.next()).value).toMatchObject({ snapshot: expect.any(String) });
  expect(await sessions()).toBe(1);
  return names;
}

const expectNoSession = () => expect.poll(sessions, { timeout: 2_000, interval: 50 }).toBe(0);

test("a snapshot is closed when its caller leaves", async () => {
  const names = await open();
  await names.return?.();
  await expectNoSession();
  expect(reports.filter((key) => key !== undefined)).toEqual([]);
});

test("a snapshot is closed when its caller aborts", async () => {
  const leaving = new AbortController();
  await open(transport, { signal: leaving.signal });
  leaving.abort();
  await expectNoSession();
  expect(reports.filter((key) => key !== undefined)).toEqual([]);
});

test("a snapshot is closed when the connection of its caller breaks", async () => {
  await using proxy = await startTcpProxy({ host: "127.0.0.1", port: server.port });
  using other = transportTo(`http://127.0.0.1:${proxy.port}`);
  await open(other);
  await proxy.close();
  await expectNoSession();
});

test("a snapshot is closed when the process of its caller closes its connections", async () => {
  const other = transportTo(server.url);
  await open(other);
  other[Symbol.dispose]();
  await expectNoSession();
});

test("a process rejects a fourth snapshot until a caller leaves", async () => {
  const opening = () =>
    clientOf(CardService, transport).openCardSnapshot({}, newCall())[Symbol.asyncIterator]();
  const held = [opening(), opening(), opening()];
  for (const names of held) await names.next();
  const error: unknown = await opening()
    .next()
    .catch((thrown: unknown) => thrown);
  expect(toErrorResponse(error, "").error.key).toBe("too_many_requests");
  expect(reports.filter((key) => key !== undefined)).toEqual(["too_many_requests"]);
  const [first, ...others] = held;
  await first?.return?.();
  await expect.poll(sessions).toBe(2);
  const next = opening();
  expect((await next.next()).value).toMatchObject({ snapshot: expect.any(String) });
  for (const names of [next, ...others]) await names.return?.();
  await expectNoSession();
});

test("a snapshot is closed at the deadline of its call", async () => {
  const method = CardService.method.openCardSnapshot;
  async function* request() {
    yield { $typeName: method.input.typeName } as const;
  }
  const authorization = `Bearer ${await token("loyalty")}`;
  const headers = { authorization, "x-scrip-project": newId("proj") };
  const { message } = await transport.stream(method, undefined, 500, headers, request());
  const names = message[Symbol.asyncIterator]();
  await names.next();
  expect(await sessions()).toBe(1);
  await expectNoSession();
});

test("a stopping process closes its snapshots, and does not wait for their callers", async () => {
  const stopping = await serveLoyalty();
  using other = transportTo(stopping.url);
  const names = await open(other);
  const reading = (async () => {
    while ((await names.next()).done !== true);
  })();
  await sleep(1_500);
  const start = performance.now();
  await stopping[Symbol.asyncDispose]();
  expect(performance.now() - start).toBeLessThan(2_000);
  await expectNoSession();
  await reading;
});

test("a stopping process ends although the caller of a snapshot no longer reads the stream", async () => {
  const stopping = await serveLoyalty();
  using other = transportTo(stopping.url);
  await open(other);
  // Names that are not read accumulate in the connection.
  await sleep(2_500);
  const start = performance.now();
  await stopping[Symbol.asyncDispose]();
  expect(performance.now() - start).toBeLessThan(10_000);
  await expectNoSession();
});
