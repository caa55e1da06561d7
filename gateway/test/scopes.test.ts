import { bindingsOf } from "@scrip/contract";
import { afterAll, expect, test } from "vitest";

import { publicServices } from "../src/public-services.ts";
import {
  enableClientFeatures,
  clientHeaders,
  newToken,
  send,
  serverHeaders,
  tokenCall,
} from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubAllServices } from "./service-stubs.ts";

/** The scopes of the API (docs/authentication.md#scopes), and the lower-case spelling of SKUs. */
const SCOPES =
  "api client_api assets async-actions audit-log campaigns categories client_consents client_customers " +
  "client_events client_promotions client_publish client_qualifications client_redeem " +
  "client_redemptions client_validate client_validations client_vouchers consents customers " +
  "events exports locations loyalties metadata-schemas orders product-collections products " +
  "promotions publications qualifications redemptions referrals rewards segments SKUs " +
  "task-results templates trash-bin validation-rules-assignments validation-rules validations " +
  "vouchers skus";

const gateway = await startTestGateway({ implementations: stubAllServices() });
afterAll(() => gateway[Symbol.asyncDispose]());
const server = gateway.keys;
const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
await enableClientFeatures(gateway, {
  client_redeem_enabled: true,
  client_publish_enabled: true,
  client_list_vouchers_enabled: true,
  client_create_customer_enabled: true,
  client_loyalty_events_enabled: true,
});

/** Endpoints of a scope, by the first segment of their path (docs/authentication.md#scopes). */
function opens(scope: string, path: string): boolean {
  const [, first, second, third] = path.split("/");
  if (first === "client") return scope === "client_api" || scope === `client_${third}`;
  return scope === "api" || (scope === "SKUs" ? "skus" : scope) === second;
}

const routes = bindingsOf(publicServices).filter(
  ({ side }) => side === "server" || side === "client",
);

test.each(SCOPES.split(" "))(
  "the scope %s grants access to its own endpoints only",
  async (scope) => {
    const serverToken = await newToken(gateway, server, scope);
    for (const { httpMethod, path, side } of routes) {
      const headers =
        side === "server" ? serverHeaders(server, serverToken) : clientHeaders(client, serverToken);
      const url = gateway.url + path.replaceAll(/\{\w+\}/g, "x");
      const { status, json, headers: answered } = await send(url, httpMethod, { headers });
      const opened = opens(scope, path);
      const seen = { scope, route: `${httpMethod} ${path}`, opened: status !== 403 };
      expect(seen).toEqual({ scope, route: `${httpMethod} ${path}`, opened });
      if (opened) continue;
      expect(json).toMatchObject({
        code: 403,
        key: "missing_required_permission",
        message: "Missing permission",
      });
      expect(answered.get("www-authenticate")).toMatch(
        /^Bearer error="insufficient_scope", scope="/,
      );
    }
  },
);

test.each(["everything", "vouchers,campaigns", "VOUCHERS", "api,"])(
  "rejects the scope %j",
  async (scope) => {
    const form = { grant_type: "client_credentials", scope };
    expect(await tokenCall(gateway, "token", server, form)).toMatchObject({
      status: 400,
      json: { key: "invalid_scope", message: `Invalid scope: ${scope}` },
    });
  },
);

test("rejects server-side scopes for a client key", async () => {
  const form = { grant_type: "client_credentials", scope: "client_api vouchers" };
  expect(await tokenCall(gateway, "token", client, form)).toMatchObject({
    status: 400,
    json: { key: "invalid_scope" },
  });
});
