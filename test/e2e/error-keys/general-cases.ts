import { once } from "node:events";
import { request } from "node:http";

import type { ErrorKey } from "@scrip/errors";
import { expect } from "vitest";

import { type Json, newCode } from "../../stack/api.ts";
import type { ProjectName } from "./project-name.ts";
import type { Shop } from "./shop.ts";

/** A key that no RPC declares, because any request can be rejected with it. */
export type GeneralCase = {
  readonly key: ErrorKey;
  /** Default: `main`. */
  readonly project?: ProjectName;
  readonly request: (shop: Shop, url: string) => Promise<{ status: number; body: Json }>;
};

/** A request with a body and headers that the API client of the tests would not send. */
const sendRaw =
  (method: string, path: string, headers: Readonly<Record<string, string>>, body?: string) =>
  async (shop: Shop, url: string): Promise<{ status: number; body: Json }> => {
    const response = await fetch(url + path, {
      method,
      headers: { ...shop.api.headers, ...headers },
      ...(body !== undefined && { body }),
    });
    return { status: response.status, body: (await response.json()) as Json };
  };

const JSON_BODY = { "content-type": "application/json" };

export const GENERAL_CASES: readonly GeneralCase[] = [
  { key: "invalid_payload", request: (shop) => shop.api.post("/v1/vouchers", {}) },
  { key: "invalid_query_params", request: (shop) => shop.api.get("/v1/vouchers?limit=many") },
  {
    key: "invalid_idempotency_key",
    request: (shop) => shop.api.post("/v1/customers", {}, { "idempotency-key": "k".repeat(256) }),
  },
  {
    key: "unauthorized",
    request: sendRaw("GET", "/v1/vouchers", { authorization: "Bearer none" }),
  },
  {
    key: "missing_required_permission",
    async request(shop, url) {
      const token = await fetch(`${url}/v1/oauth/token`, {
        method: "POST",
        headers: shop.keyHeaders,
        body: new URLSearchParams({ grant_type: "client_credentials", scope: "vouchers" }),
      });
      const { access_token: accessToken } = (await token.json()) as Json;
      const headers = { authorization: `Bearer ${accessToken}` };
      return sendRaw("GET", "/v1/campaigns", headers)(shop, url);
    },
  },
  { key: "method_not_allowed", request: sendRaw("PATCH", "/v1/vouchers", {}) },
  { key: "not_acceptable", request: sendRaw("GET", "/v1/vouchers", { accept: "text/html" }) },
  {
    key: "payload_too_large",
    request: sendRaw("POST", "/v1/vouchers", JSON_BODY, `{"code":"${"A".repeat(300_000)}"}`),
  },
  {
    key: "unsupported_media_type",
    request: sendRaw("POST", "/v1/vouchers", { "content-type": "text/plain" }, "{}"),
  },
  {
    key: "range_not_satisfiable",
    async request(shop, url) {
      const { body } = await shop.api.post("/v1/exports", { exported_object: "order" });
      const link = async (): Promise<string | undefined> =>
        (await shop.api.get(`/v1/exports/${body["id"]}`)).body["result"]?.url;
      await expect.poll(link).toBeDefined();
      const { pathname, search } = new URL((await link()) ?? "", url);
      return sendRaw("GET", `${pathname}${search}`, { range: "bytes=9999-" })(shop, url);
    },
  },
  {
    key: "expectation_failed",
    async request(shop, url) {
      const headers = { ...shop.api.headers, expect: "200-ok" };
      const sent = request(`${url}/v1/vouchers`, { headers });
      sent.end();
      const [response] = await once(sent, "response");
      let text = "";
      for await (const chunk of response) text += String(chunk);
      return { status: response.statusCode, body: JSON.parse(text) as Json };
    },
  },
  {
    key: "idempotency_key_reused",
    async request(shop) {
      const headers = { "idempotency-key": newCode("key") };
      await shop.api.post("/v1/customers", { source_id: "ann" }, headers);
      return shop.api.post("/v1/customers", { source_id: "bob" }, headers);
    },
  },
  {
    key: "idempotency_in_progress",
    project: "closed",
    async request(shop) {
      const ann = { source_id: "ann" };
      await shop.api.post("/v1/customers", ann);
      const repeat = () =>
        shop.api.post(
          "/v1/customers",
          { ...ann, name: "Ann" },
          { "idempotency-key": "in progress" },
        );
      // One of them holds the key while it waits for the row of the customer.
      return shop.whileLocked("loyalty.customer", () => Promise.race([repeat(), repeat()]));
    },
  },
  {
    key: "too_many_requests",
    project: "sandbox",
    async request(shop) {
      const bulk = () => shop.api.post("/v1/campaigns/none/vouchers?vouchers_count=2");
      for (let count = 0; count < BULK_CALLS_PER_HOUR; count += 1) await bulk();
      return bulk();
    },
  },
  {
    key: "service_unavailable",
    project: "sandbox",
    async request(shop) {
      const code = await shop.voucher();
      return shop.whileLocked("voucher.voucher_usage", () =>
        shop.api.post(`/v1/vouchers/${code}/disable`),
      );
    },
  },
];

/** The limit of the stack that the cases run on. */
export const BULK_CALLS_PER_HOUR = 30;
