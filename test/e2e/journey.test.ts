import { describe, expect, test } from "vitest";

import { newCode, serverApi } from "../stack/api.ts";
import { outputOf } from "../stack/compositions.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("a server-side integration (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("validates a voucher, redeems it, and is rejected the second time", async () => {
    const code = newCode("JOURNEY");
    const created = await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 12.5 },
      redemption: { quantity: 1 },
      metadata: { channel: "mail" },
    });
    expect(created.status, created.text).toBe(200);
    expect(created.body).toMatchObject({
      object: "voucher",
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 12.5 },
      redemption: { object: "list", quantity: 1, redeemed_quantity: 0 },
      metadata: { channel: "mail" },
      campaign: null,
      gift: null,
    });

    const order = {
      source_id: newCode("order"),
      items: [
        { product_id: "prod_a", quantity: 2, price: 1000 },
        { product_id: "prod_b", quantity: "1", price: "1004" },
      ],
    };
    const validation = await api.post(`/v1/vouchers/${code}/validate`, { order });
    expect(validation.status, validation.text).toBe(200);
    expect(validation.body).toMatchObject({
      valid: true,
      code,
      applicable_to: { object: "list", data: [], total: 0 },
      metadata: { channel: "mail" },
      order: { amount: 3004, total_discount_amount: 376, total_amount: 2628 },
    });

    const redemption = await api.post(`/v1/vouchers/${code}/redemption`, {
      order,
      customer: { source_id: "buyer-1", name: "Ada" },
      metadata: { till: 4 },
    });
    expect(redemption.status, redemption.text).toBe(200);
    expect(redemption.body).toMatchObject({
      object: "redemption",
      result: "SUCCESS",
      status: "SUCCEEDED",
      metadata: { till: 4 },
      related_object_type: "voucher",
      related_object_id: created.body["id"],
      customer: { source_id: "buyer-1", name: "Ada" },
      order: { source_id: order.source_id, status: "PAID", total_amount: 2628 },
      voucher: { code, redemption: { quantity: 1, redeemed_quantity: 1 } },
    });
    expect(redemption.body["id"]).toMatch(/^r_[0-9a-f]{18}$/);
    expect(redemption.body["tracking_id"]).toMatch(/^track_/);
    expect(redemption.body["order"].redemptions[redemption.body["id"]]).toMatchObject({
      related_object_type: "voucher",
      related_object_id: created.body["id"],
    });

    const again = await api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 100 } });
    expect(again.status).toBe(400);
    expect(again.body).toMatchObject({
      code: 400,
      key: "quantity_exceeded",
      message: "quantity exceeded",
      details: code,
      resource_type: "redemption",
    });
    expect(again.body["request_id"]).toMatch(/^v-[0-9a-f]{18}$/);
    expect(again.headers.get("x-request-id")).toBe(again.body["request_id"]);

    const failed = await api.get(`/v1/redemptions/${again.body["resource_id"]}`);
    expect(failed.body).toMatchObject({
      object: "redemption",
      result: "FAILURE",
      failure_code: "quantity_exceeded",
      order: null,
    });
    const stored = await api.get(`/v1/redemptions/${redemption.body["id"]}`);
    expect(stored.body).toMatchObject({ id: redemption.body["id"], result: "SUCCESS" });

    const entries = await api.get(`/v1/vouchers/${code}/redemption`);
    expect(entries.body).toMatchObject({
      object: "list",
      data_ref: "redemption_entries",
      quantity: 1,
      redeemed_quantity: 1,
      total: 2,
    });

    const used = await api.post("/v1/validations", {
      redeemables: [{ object: "voucher", id: code }],
      order: { amount: 100 },
    });
    expect(used.body).toMatchObject({
      valid: false,
      redeemables: [
        { status: "INAPPLICABLE", id: code, result: { error: { key: "quantity_exceeded" } } },
      ],
    });
  });

  test("spends a gift voucher down to zero and never below", async () => {
    const code = newCode("GIFT");
    const gift = await api.post(`/v1/vouchers/${code}`, {
      type: "GIFT_VOUCHER",
      gift: { amount: 1000, balance: 5 },
    });
    expect(gift.body["gift"]).toMatchObject({ amount: 1000, balance: 1000 });

    const first = await api.post(`/v1/vouchers/${code}/redemption`, {
      gift: { credits: 300 },
      order: { amount: 5000 },
    });
    expect(first.body, first.text).toMatchObject({
      amount: 300,
      gift: { amount: 300 },
      order: { total_discount_amount: 300, total_amount: 4700 },
      voucher: { gift: { amount: 1000, balance: 700 }, redemption: { redeemed_amount: 300 } },
    });
    const tooMuch = await api.post(`/v1/vouchers/${code}/redemption`, {
      gift: { credits: 701 },
      order: { amount: 5000 },
    });
    expect([tooMuch.status, tooMuch.body["key"]]).toEqual([400, "gift_amount_exceeded"]);
    const rest = await api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 5000 } });
    expect(rest.body).toMatchObject({ amount: 700, voucher: { gift: { balance: 0 } } });
  });

  test("returns the requested category, images and code", async () => {
    const category = await api.post("/v1/categories", { name: newCode("Spring"), hierarchy: 3 });
    expect(category.body, category.text).toMatchObject({ object: "category", hierarchy: 3 });
    const voucher = await api.post("/v1/vouchers", {
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 500 },
      category_id: category.body["id"],
      code_config: { pattern: "SPRING-####", charset: "AB" },
    });
    expect(voucher.body, voucher.text).toMatchObject({
      category: category.body["name"],
      category_id: category.body["id"],
      categories: [{ id: category.body["id"], object: "category" }],
    });
    expect(voucher.body["code"]).toMatch(/^SPRING-[AB]{4}$/);
    for (const asset of ["qr", "barcode"]) {
      const image = await fetch(stack.url + voucher.body["assets"][asset].url);
      expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/png"]);
      const bytes = new Uint8Array(await image.arrayBuffer());
      expect([...bytes.subarray(1, 4)]).toEqual([...Buffer.from("PNG")]);
    }
  });

  test("updates, disables, lists and deletes vouchers", async () => {
    const code = newCode("a b%c#d/e");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 500 },
      additional_info: "first",
      metadata: { a: 1, b: 2 },
    });
    const path = `/v1/vouchers/${encodeURIComponent(code)}`;
    const updated = await api.put(path, { additional_info: null, metadata: { b: 3 } });
    expect(updated.body, updated.text).toMatchObject({
      code,
      additional_info: null,
      metadata: { a: 1, b: 3 },
    });
    expect(updated.body["updated_at"]).toMatch(/Z$/);

    expect((await api.post(`${path}/disable`)).body["active"]).toBe(false);
    const rejected = await api.post(`${path}/redemption`);
    expect([rejected.status, rejected.body["key"]]).toEqual([400, "voucher_disabled"]);
    expect((await api.post(`${path}/enable/`, {})).body["active"]).toBe(true);

    const filter = `filters[code][conditions][$in][0]=${encodeURIComponent(code)}&junction=OR`;
    const list = await api.get(`/v1/vouchers?${filter}`);
    expect(list.body, list.text).toMatchObject({
      object: "list",
      data_ref: "vouchers",
      total: 1,
      vouchers: [{ code }],
    });
    expect((await api.delete(path)).status).toBe(204);
    const afterDeletion = await api.get(path);
    expect([afterDeletion.status, afterDeletion.body]).toMatchObject([
      404,
      { key: "not_found", resource_type: "voucher", resource_id: code },
    ]);
  });

  test("returns every error in the same format", async () => {
    const bad = await api.post("/v1/validations", { redeemables: [{ object: "voucher" }] });
    expect([bad.status, bad.body]).toMatchObject([
      400,
      {
        code: 400,
        key: "invalid_payload",
        details: "Property .redeemables[0] should have required property 'id'",
      },
    ]);
    const unknown = await api.get("/v1/nothing-here");
    expect([unknown.status, unknown.body["key"]]).toEqual([404, "not_found"]);
    const method = await api.delete("/v1/validations");
    expect([method.status, method.body["key"], method.headers.get("allow")]).toEqual([
      405,
      "method_not_allowed",
      "POST",
    ]);
    const missing = await api.post("/v1/validations", {
      redeemables: [{ object: "voucher", id: newCode("NONE") }],
    });
    expect([missing.status, missing.body]).toMatchObject([
      200,
      {
        valid: false,
        redeemables: [
          {
            status: "INAPPLICABLE",
            result: { error: { code: 404, key: "not_found", resource_type: "voucher" } },
          },
        ],
      },
    ]);
  });

  test("serves the API contract and the documentation without credentials", async () => {
    const document = await fetch(`${stack.url}/openapi.json`);
    const openapi = (await document.json()) as { openapi: string; paths: object };
    expect(openapi.openapi).toMatch(/^3\.1/);
    expect(Object.keys(openapi.paths)).toContain("/v1/vouchers/{code}/redemption");
    const docsPage = await fetch(`${stack.url}/docs`);
    expect([docsPage.status, docsPage.headers.get("content-type")]).toMatchObject([
      200,
      expect.stringContaining("text/html"),
    ]);
    const services = composition === "standalone" ? [] : Object.values(stack.metrics);
    const gateways = new Set([stack.metrics["gateway"], stack.metrics["gateway-2"]]);
    for (const path of ["/livez", "/startupz", "/readyz"]) {
      expect((await fetch(stack.url + path)).status).toBe(200);
      for (const url of services.filter((each) => !gateways.has(each))) {
        expect((await fetch(new URL(path, url))).status).toBe(200);
      }
    }
  });

  test("serves metrics on a port of its own in each process, and not on the port of the API", async () => {
    expect((await fetch(`${stack.url}/metrics`)).status).toBe(404);
    const processes =
      composition === "standalone"
        ? ["scrip"]
        : ["loyalty", "voucher", "campaign", "validation", "export", "gateway"];
    const names = Object.keys(stack.metrics).map((name) => name.replace(/-\d+$/, ""));
    expect([...new Set(names)]).toEqual(processes);
    for (const [name, url] of Object.entries(stack.metrics)) {
      const response = await fetch(url);
      const text = await response.text();
      expect([name, response.status, response.headers.get("content-type")]).toEqual([
        name,
        200,
        expect.stringMatching(/^text\/plain/),
      ]);
      expect(text).toContain("process_resident_memory_bytes");
      const isGateway = name === "scrip" || name.startsWith("gateway");
      expect(text.includes("http_request_duration_seconds_count")).toBe(isGateway);
    }
  });

  test("writes no secret to the logs", async () => {
    const { appToken, clientToken, managementToken } = stack.keys;
    const authorization = api.headers["authorization"]?.slice("Bearer ".length) ?? "";
    for (const secret of [appToken, clientToken, managementToken, authorization]) {
      expect(
        outputOf(stack)
          .split("\n")
          .filter((line) => line.startsWith("{"))
          .join("\n"),
      ).not.toContain(secret);
    }
  });
});
