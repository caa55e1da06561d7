import { expect, test } from "vitest";

import type { Call } from "./call.ts";
import { fromHeaders, toHeaders } from "./headers.ts";

const clock = { now: 1_000, timeoutMs: 500 };
const call: Call = {
  project: {
    id: "proj_1",
    timeZone: "Europe/Warsaw",
    firstWeekday: 0,
    caseSensitiveCodes: false,
    codeConfig: '{"prefix":"Ünï-"}',
  },
  requestId: "v-0123456789abcdef01",
  deadline: 1_500,
  now: 77,
  caller: { side: "client", id: "app_1" },
  idempotency: { key: "POST /v1/ä 1", requestHash: new Uint8Array([1, 2, 255]) },
};

test("passes a call to another Scrip service unchanged", () => {
  const arrived = fromHeaders(toHeaders(call), { internal: true, callerName: "validation" }, clock);
  expect(arrived).toEqual({
    ...call,
    idempotency: { key: "POST /v1/ä 1", requestHash: Buffer.from([1, 2, 255]) },
  });
});

test("trusts an external service for its project, but neither for its clock nor its side", () => {
  const arrived = fromHeaders(toHeaders(call), { internal: false, callerName: "till" }, clock);
  const { codeConfig: _own, ...project } = call.project;
  expect(arrived.project).toEqual(project);
  expect(arrived.idempotency).toBeUndefined();
  expect(arrived.now).toBe(clock.now);
  expect(arrived.caller).toEqual({ side: "service", id: "till" });
});

test("accepts only well-formed request ids, and rejects unknown time zones", () => {
  const trust = { internal: true, callerName: "x" };
  const headers = toHeaders({ ...call, requestId: 'v-1" injected' });
  expect(fromHeaders(headers, trust, clock).requestId).toMatch(/^v-[0-9a-f]{18}$/);
  headers.set("x-scrip-time-zone", "Mars/Olympus");
  expect(() => fromHeaders(headers, trust, clock)).toThrow("Invalid payload");
});

test("limits the deadline to that of a request", () => {
  const patient = { now: 1_000, timeoutMs: 3_600_000 };
  const arrived = fromHeaders(toHeaders(call), { internal: true, callerName: "x" }, patient);
  expect(arrived.deadline).toBe(9_000);
});
