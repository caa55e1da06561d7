import { expect, test } from "vitest";

import type { Call } from "./call.ts";
import { fromHeaders, toHeaders } from "./headers.ts";

const clock = { now: 1_000, timeoutMs: 500 };
const call: Call = {
  project: {
    id: "proj_1",
    version: 7n,
    timeZone: "Europe/Warsaw",
    firstWeekday: 0,
    caseSensitiveCodes: false,
  },
  requestId: "v-0123456789abcdef01",
  deadline: 1_500,
  now: 77,
  caller: { side: "client", id: "app_1", name: "Shop: Łódź, 100 %" },
  idempotency: { key: "POST /v1/ä 1", requestHash: new Uint8Array([1, 2, 255]) },
};

test("passes a call to another Scrip service, with the version of its project for the settings", () => {
  const arrived = fromHeaders(
    new Headers(toHeaders(call)),
    { internal: true, callerName: "validation" },
    clock,
  );
  const { project: _, ...sent } = call;
  expect(arrived).toEqual({
    ...sent,
    projectId: "proj_1",
    projectVersion: 7n,
    idempotency: { key: "POST /v1/ä 1", requestHash: Buffer.from([1, 2, 255]) },
  });
});

test("passes the initiator of a call that a service makes for itself", () => {
  const initiator = { side: "server" as const, id: "app_2", name: "POS" };
  const own: Call = { ...call, caller: { side: "service", id: "voucher" }, initiator };
  const sent = new Headers(toHeaders(own));
  const arrived = fromHeaders(sent, { internal: true, callerName: "voucher" }, clock);
  expect(arrived).toMatchObject({ caller: { side: "service", id: "voucher" }, initiator });
  const external = fromHeaders(sent, { internal: false, callerName: "till" }, clock);
  expect(external).not.toHaveProperty("initiator");
});

test("reads callers of an earlier release, which have no name", () => {
  const sent = new Headers({ "x-scrip-caller": "server:app_1" });
  const { caller } = fromHeaders(sent, { internal: true, callerName: "gateway" }, clock);
  expect(caller).toEqual({ side: "server", id: "app_1" });
});

test("trusts an external service for its project id only", () => {
  const arrived = fromHeaders(
    new Headers(toHeaders(call)),
    { internal: false, callerName: "till" },
    clock,
  );
  expect(arrived).toEqual({
    projectId: "proj_1",
    projectVersion: undefined,
    requestId: call.requestId,
    deadline: call.deadline,
    now: undefined,
    caller: { side: "service", id: "till" },
  });
});

test("replaces malformed request ids, and ignores malformed versions and times", () => {
  const headers = new Headers(toHeaders({ ...call, requestId: 'v-1" injected' }));
  headers.set("x-scrip-project-version", "7.5");
  headers.set("x-scrip-now", "tomorrow");
  const arrived = fromHeaders(headers, { internal: true, callerName: "x" }, clock);
  expect(arrived.requestId).toMatch(/^v-[0-9a-f]{18}$/);
  expect(arrived).toMatchObject({ projectVersion: undefined, now: undefined });
});

test("limits the deadline to that of a request", () => {
  const patient = { now: 1_000, timeoutMs: 3_600_000 };
  const arrived = fromHeaders(
    new Headers(toHeaders(call)),
    { internal: true, callerName: "x" },
    patient,
  );
  expect(arrived.deadline).toBe(9_000);
});
