import { Code, ConnectError } from "@connectrpc/connect";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Logger } from "@scrip/telemetry";
import { expect, test } from "vitest";

import { clientHeaders, newToken, send, serverHeaders, tokenCall } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices, stubService } from "./service-stubs.ts";

type Line = { level: string; fields: Record<string, unknown>; message: string };

function recording(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const level = (name: string) => (fields: object, message: string) => {
    lines.push({ level: name, fields: { ...fields }, message });
  };
  const logger: Logger = {
    plain: level("info"),
    debug: level("debug"),
    info: level("info"),
    warn: level("warn"),
    error: level("error"),
    child: () => logger,
  };
  return { logger, lines };
}

test("each request is one log line with the route and without secrets and codes", async () => {
  const { logger, lines } = recording();
  await using gateway = await startTestGateway({ implementations: stubAllServices(), logger });
  const { keys } = gateway;
  const token = await newToken(gateway, keys, "api");
  const headers = { ...serverHeaders(keys, token), "X-Request-Id": "theirs\u00e4" };
  const response = await send(`${gateway.url}/v1/vouchers/SECRET-CODE?x=SECRET-QUERY`, "GET", {
    headers,
  });
  await tokenCall(gateway, "introspect", keys, { access_token: token });
  await send(`${gateway.url}/SECRET-CODE`, "GET");
  const client = { appId: keys.clientAppId, appToken: keys.clientToken };
  await send(`${gateway.url}/client/v1/validations`, "POST", {
    headers: clientHeaders(client, token),
    body: { redeemables: [{ object: "voucher", id: "SECRET-CODE" }] },
  });

  // A busy machine may delay the database connections of background jobs, which is logged too.
  const requests = lines.filter(({ message }) => message === "request");
  expect(
    requests.map(({ fields, message }) => [message, fields["route"], fields["status"]]),
  ).toEqual([
    ["request", "/v1/oauth/token", 200],
    ["request", "/v1/vouchers/{code}", 501],
    ["request", "/v1/oauth/introspect", 200],
    ["request", "(none)", 404],
    ["request", "/client/v1/validations", 403],
  ]);
  expect(requests[1]?.fields).toEqual({
    request_id: response.headers.get("x-request-id"),
    method: "GET",
    route: "/v1/vouchers/{code}",
    status: 501,
    ms: expect.any(Number),
    app_id: keys.appId,
    project_id: expect.stringMatching(/^proj_/),
    key: "not_implemented",
    caller_request_id: expect.stringContaining("theirs"),
  });
  const written = JSON.stringify(lines);
  for (const secret of [token, keys.appToken, keys.clientToken, "SECRET"]) {
    expect(written).not.toContain(secret);
  }
});

test("an outage is logged once for many requests, a bug each time", async () => {
  const { logger, lines } = recording();
  const gateway = await startTestGateway({
    implementations: [
      stubService(VoucherService, {
        async getVoucher({ code }: { code: string }) {
          if (code === "bug") throw new Error("a bug");
          throw new ConnectError("the database is away", Code.Unavailable);
        },
      }),
    ],
    logger,
  });
  const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
  const get = (code: string) => send(`${gateway.url}/v1/vouchers/${code}`, "GET", { headers });
  for (const { status } of await Promise.all(Array.from({ length: 40 }, () => get("away")))) {
    expect(status).toBe(503);
  }
  for (const { status } of [await get("bug"), await get("bug")]) expect(status).toBe(500);
  await gateway[Symbol.asyncDispose]();
  const outages = lines.filter(({ level }) => level === "warn");
  expect(outages.length).toBeLessThan(10);
  const requests = outages.map(({ fields }) => Number(fields["requests"]));
  expect(requests.reduce((sum, each) => sum + each, 0)).toBe(40);
  expect(outages[0]?.fields).toMatchObject({
    requests: 1,
    key: "service_unavailable",
    route: "/v1/vouchers/{code}",
    error: expect.objectContaining({ message: expect.stringContaining("away") }),
  });
  const bugs = lines.filter(({ level, fields }) => level === "error" && "route" in fields);
  expect(bugs).toHaveLength(2);
});

test("a proxy in front of a gateway that trusts none is one warning, and probes cause none", async () => {
  const { logger, lines } = recording();
  await using gateway = await startTestGateway({ implementations: stubAllServices(), logger });
  const headers = { "X-Forwarded-For": "203.0.113.9" };
  const warnings = () => lines.filter(({ message }) => message.includes("SCRIP_TRUSTED_PROXIES"));
  await send(`${gateway.url}/readyz`, "GET", { headers });
  expect(warnings()).toEqual([]);
  for (const path of ["/v1/vouchers/x", "/v1/campaigns"]) {
    await send(gateway.url + path, "GET", { headers });
  }
  expect(warnings()).toMatchObject([{ level: "warn", fields: { forwarded_for_entries: 1 } }]);
});
