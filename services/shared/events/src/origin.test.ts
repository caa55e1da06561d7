import { describe, expect, test } from "vitest";

import {
  eventSourceOf,
  INTERNAL,
  type Origin,
  originHeaders,
  originOf,
  projectVersionOf,
  storedHeaders,
} from "./origin.ts";

const requestId = "v-0123456789abcdef01";
const key = { side: "server", id: "app_1", name: 'Łódź: "shop", 100 %' } as const;

describe("the origin of an event", () => {
  test.each<[string, Origin]>([
    ["a request with an API key", { requestId, caller: key }],
    ["a client-side request", { requestId, caller: { side: "client", id: "client_1", name: "" } }],
    [
      "a process of an earlier release, without the name",
      { requestId, caller: { side: "server", id: "app_1" } },
    ],
    [
      "a request with a version of its project",
      { requestId, caller: key, project: { version: 7n } },
    ],
    ["a service by itself", INTERNAL],
  ])("is read as it was written: %s", (_name, origin) => {
    const headers = JSON.parse(storedHeaders("00-ab", origin) ?? "{}") as Record<string, string>;
    expect(headers).toMatchObject({ traceparent: "00-ab" });
    expect(originOf({ headers })).toEqual(origin);
  });

  test("is that of the request when a service calls because of it", () => {
    const call = { requestId, caller: { side: "service", id: "voucher" }, initiator: key } as const;
    expect(originOf({ headers: originHeaders(call) })).toEqual({ requestId, caller: key });
  });

  test.each([{}, { traceparent: "00-ab" }, { "request-id": requestId }, { caller: "robot:1" }])(
    "is unknown for the headers %o",
    (headers) => {
      expect(originOf({ headers })).toBeUndefined();
    },
  );
});

test.each([{}, { "project-version": "" }, { "project-version": "7.5" }])(
  "an event with the headers %o has no version of its project",
  (headers) => {
    expect(projectVersionOf({ headers })).toBeUndefined();
  },
);

test("events without an origin and a trace store no headers", () => {
  expect(storedHeaders(undefined, undefined)).toBeNull();
});

test.each<[Origin["caller"], unknown]>([
  [key, { channel: "API", api_key: { name: key.name, app_id: "app_1" } }],
  [
    { side: "server", id: "app_1" },
    { channel: "API", api_key: { name: null, app_id: "app_1" } },
  ],
  [
    { side: "client", id: "client_1", name: "Web" },
    { channel: "CLIENT_API", api_key: { name: "Web", app_id: "client_1" } },
  ],
  [
    { side: "management", id: "management" },
    { channel: "API", api_key: null },
  ],
  [
    { side: "service", id: "export" },
    { channel: "INTERNAL", api_key: null },
  ],
])("the source of an event of %o", (caller, source) => {
  expect(eventSourceOf({ requestId, caller })).toEqual(source);
});
