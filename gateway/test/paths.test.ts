import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { clientHeaders, newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

const requests: unknown[] = [];
const gateway = await startTestGateway({
  implementations: [
    stubService(VoucherService),
    stubService(ValidationService, {
      validatePromotions: async (request) => {
        requests.push(request);
        return { $typeName: "scrip.validation.v1.PromotionsValidation", valid: false };
      },
    }),
  ],
  keys: { trustedDomains: ["*"] },
});
afterAll(() => gateway[Symbol.asyncDispose]());

test.each(["import", "importCSV", "bulk", "metadata", "export"])(
  "POST /v1/vouchers/%s creates no voucher of this code",
  async (word) => {
    const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
    const response = await send(`${gateway.url}/v1/vouchers/${word}`, "POST", {
      headers,
      body: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 1 } },
    });
    expect(response).toMatchObject({ status: 404, json: { key: "not_found" } });
  },
);

test("GET /client/v1/promotions/validation reads a nested query as the POST reads its body", async () => {
  const client = { appId: gateway.keys.clientAppId, appToken: gateway.keys.clientToken };
  const headers = clientHeaders(client, await newToken(gateway, client, "client_api"));
  const url = `${gateway.url}/client/v1/promotions/validation`;
  const query = new URLSearchParams([
    ["customer[source_id]", "anna"],
    ["customer[metadata][vip]", "true"],
    ["order[amount]", "5000"],
    ["order[items][0][source_id]", "shirt"],
    ["order[items][0][quantity]", "2"],
    ["metadata[channel]", "web"],
  ]);
  await send(`${url}?${query.toString()}`, "GET", { headers });
  await send(url, "POST", {
    headers,
    body: {
      customer: { source_id: "anna", metadata: { vip: "true" } },
      order: { amount: 5000, items: [{ source_id: "shirt", quantity: 2 }] },
      metadata: { channel: "web" },
    },
  });
  expect(requests).toHaveLength(2);
  expect(requests[0]).toEqual(requests[1]);
});
