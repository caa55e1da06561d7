import { setTimeout as sleep } from "node:timers/promises";

import { describe, test } from "vitest";

import { type ApiResponse, type Json, managementApi, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { COMPOSITIONS, crashableStacks } from "../stack/stack.ts";
import { untilFinished, uploadTo } from "../stack/uploads.ts";

const TEN_PERCENT = { type: "PERCENT", percent_off: 10 };

const stacks = crashableStacks();
describe.each(COMPOSITIONS)("imports (%s)", async (composition) => {
  const stack = await stacks[composition];
  const api = await serverApi(stack);

  test("imports codes into a campaign, and names each item that fails", async ({ expect }) => {
    const campaign = await newCampaign({ expiration_date: "2020-01-01T00:00:00Z" });
    const codes = Array.from({ length: 3 }, () => newCode("J"));
    const started = await api.post(`/v1/campaigns/${encodeURIComponent(campaign["name"])}/import`, [
      { code: codes[0], category: "Imported", start_date: "2019-02-03T04", metadata: { a: 1 } },
      { code: codes[1], active: true, redemption: { quantity: null } },
      { code: codes[2], gift: { amount: 100 } },
    ]);
    expect(started.status, started.text).toBe(202);
    const action = await finished(started);
    expect(action).toMatchObject({
      type: "CAMPAIGN.VOUCHERS_IMPORT",
      status: "DONE",
      progress: 100,
      processed: 2,
      failed: 1,
      total: 3,
      result: {
        message: "2 voucher(s) imported successfully, 1 failed.",
        done_count: 2,
        failed_count: 1,
        failed: [{ code: codes[2], reason: expect.stringContaining("gift") }],
      },
    });
    expect((await api.get(`/v1/vouchers/${codes[0]}`)).body).toMatchObject({
      campaign_id: campaign["id"],
      active: false,
      category: "Imported",
      start_date: "2019-02-03T04:00:00.000Z",
      discount: { percent_off: 10 },
      metadata: { a: 1 },
    });
    expect((await api.get(`/v1/vouchers/${codes[1]}`)).body["active"]).toBe(true);
    expect((await api.get(`/v1/campaigns/${campaign["id"]}`)).body["vouchers_count"]).toBe(2);
  });

  test("rejects a request as a whole before anything is imported", async ({ expect }) => {
    const { id, name } = await newCampaign();
    const taken = newCode("T");
    await api.post("/v1/vouchers", {
      code: taken,
      discount: TEN_PERCENT,
      type: "DISCOUNT_VOUCHER",
    });
    const path = `/v1/campaigns/${id}/import`;
    const twice = newCode("D");
    const cases = [
      [
        path,
        [{ code: "a" }, {}, { metadata: {} }],
        "invalid_voucher",
        "Found 2 voucher(s) without 'code' value",
      ],
      [
        path,
        [{ code: taken }, { code: twice }, { code: twice }],
        "duplicate_key",
        "2 voucher codes(s) already exist.",
      ],
      [
        "/v1/vouchers/import",
        [{ code: taken }],
        "duplicate_key",
        "1 voucher codes(s) already exist.",
      ],
      [path, { code: "a" }, "invalid_payload", "must be array"],
      [path, [], "invalid_payload", "must NOT have fewer than 1 items"],
      [
        path,
        [{ code: "a", redemption: { quantity: "x" } }],
        "invalid_payload",
        "should be number,null",
      ],
      [
        `/v1/campaigns/${newCode("none")}/import`,
        [{ code: "a" }],
        "not_found",
        "Cannot find campaign",
      ],
    ] as const;
    for (const [to, body, key, details] of cases) {
      const response = await api.post(to, body);
      expect(response.body, response.text).toMatchObject({
        key,
        details: expect.stringContaining(details),
      });
    }
    const large = await api.post(path, [{ code: "a", additional_info: "x".repeat(11_000_000) }]);
    expect(large.body["key"]).toBe("payload_too_large");
    const noFile = await api.post(`/v1/campaigns/${id}/importCSV`);
    expect(noFile.status).toBe(415);
    expect((await upload(`/v1/campaigns/${id}/importCSV`, undefined)).body).toMatchObject({
      key: "invalid_payload",
      details: "Payload should have required property 'file'",
    });
    expect((await upload(`/v1/campaigns/${id}/importCSV`, "Active\ntrue\n")).body).toMatchObject({
      key: "invalid_payload",
      details: "The file should have the column 'code'",
    });
    expect(name).toBeTruthy();
    expect((await api.get(`/v1/campaigns/${id}`)).body["vouchers_count"]).toBe(0);
  });

  test("imports a CSV file into a campaign by the types of the metadata schema", async ({
    expect,
  }) => {
    const { body: project } = await managementApi(stack).get("/management/v1/projects");
    const projectId = project["data"][0].id as string;
    await managementApi(stack).post(`/management/v1/projects/${projectId}/metadata-schemas`, {
      related_object: "voucher",
      properties: {
        size: { type: "number", optional: true },
        tags: { type: "string", array: true, optional: true },
      },
    });
    const gifts = await newCampaign({
      campaign_type: "GIFT_VOUCHERS",
      voucher: { type: "GIFT_VOUCHER", gift: { amount: 500 } },
    });
    const [a, b, c] = [newCode("A"), newCode("B"), newCode("C")];
    const other = newCode("O");
    await api.post("/v1/vouchers", { code: other, type: "GIFT_VOUCHER", gift: { amount: 1 } });
    const csv = [
      "\uFEFFCODE,active,Gift Amount,redeemed_amount,Expiration Date,size,tags,Note",
      `${a},TRUE,2000,500,2099-12-31,12,"red, blue","said ""hi"",\nand left"`,
      "",
      `${b},,,,,,,`,
      `${c},maybe,,,,,,`,
      `${newCode("E")},true,,,31.12.2099,,,`,
      `${newCode("S")},true,,,,large,,`,
      `${other},true,,,,,,`,
      `${b},false,99,,,,,`,
      `,true,,,,,,`,
      `${"L".repeat(256)},true,,,,,,`,
    ].join("\r\n");
    const started = await upload(`/v1/campaigns/${gifts["id"]}/importCSV`, csv);
    expect(started.status, started.text).toBe(200);
    const { result } = await finished(started);
    expect(result.message).toBe("3 voucher(s) imported successfully, 6 failed.");
    expect(result.failed.map(({ row, reason }: Json) => [row, reason])).toEqual([
      [3, "active: must be true or false (actual value is 'maybe')"],
      [4, "Expiration Date: must be a date (ISO 8601) (actual value is '31.12.2099')"],
      [5, "size: must be a number (actual value is 'large')"],
      [6, `Duplicated voucher exists with id ${other}`],
      [8, "Code: must be present"],
      [9, "Property .code must NOT have more than 255 characters"],
    ]);
    expect((await api.get(`/v1/vouchers/${a}`)).body).toMatchObject({
      gift: { amount: 2000, balance: 1500 },
      expiration_date: "2099-12-31T00:00:00.000Z",
      metadata: { size: 12, tags: ["red", "blue"], Note: 'said "hi",\nand left' },
    });
    // The second row of this code changed `active` only.
    expect((await api.get(`/v1/vouchers/${b}`)).body).toMatchObject({
      active: false,
      gift: { amount: 500 },
    });
  });

  test("imports standalone vouchers, customers, products, SKUs and orders", async ({ expect }) => {
    const [x, y] = [newCode("x"), newCode("y")];
    const message = async (started: ApiResponse): Promise<string> =>
      (await finished(started)).result.message;
    expect(
      await message(
        await upload(
          "/v1/vouchers/importCSV",
          `Code,Voucher Type,Value,Discount Type,Redemption Limit,Redeemed Quantity,shop\n${x},DISCOUNT_VOUCHER,10.5,PERCENT,5,2,north\n${y},GIFT_VOUCHER,20.00,,,,\n`,
        ),
      ),
    ).toBe("2 voucher(s) imported successfully, 0 failed.");
    expect((await api.get(`/v1/vouchers/${x}`)).body).toMatchObject({
      campaign_id: null,
      discount: { type: "PERCENT", percent_off: 10.5 },
      redemption: { quantity: 5, redeemed_quantity: 2 },
      metadata: { shop: "north" },
    });
    expect((await api.get(`/v1/vouchers/${y}`)).body["gift"]).toMatchObject({ amount: 2000 });

    await api.post("/v1/customers", {
      source_id: x,
      name: "Old",
      phone: "+1",
      address: { city: "Rome", state: "Lazio", country: "IT" },
      metadata: { kept: 1 },
    });
    const people = `Source_id,Name,Phone,Address_City,Address_State,level\n${x},New,,Paris,,gold\n${y},Second,+2,,,\n,Nobody,,,,\n`;
    expect(await message(await upload("/v1/customers/importCSV", people))).toBe(
      "2 customer(s) imported successfully, 1 failed.",
    );
    expect((await api.get(`/v1/customers/${x}`)).body).toMatchObject({
      name: "New",
      phone: null,
      address: { city: "Paris", state: null, country: "IT" },
      metadata: { kept: 1, level: "gold" },
    });

    const products = `name,source_id,price,attributes,brand\nShirt,${x},1999,"size, color",acme\n,${y},1,,\n`;
    expect(await message(await upload("/v1/products/importCSV", products))).toBe(
      "1 product(s) imported successfully, 1 failed.",
    );
    const skus = `source_id,product_id,sku,price,attributes\n${x}-m,${x},Medium,,size=M\n${x}-n,none,No,,\n`;
    expect(await message(await upload("/v1/skus/importCSV", skus))).toBe(
      "1 sku(s) imported successfully, 1 failed.",
    );
    expect((await api.get(`/v1/skus/${x}-m`)).body).toMatchObject({
      sku: "Medium",
      price: 1999,
      attributes: { size: "M" },
      product: { source_id: x },
    });

    const orders = [
      { source_id: x, status: "PAID", amount: 500, customer: { source_id: x } },
      { source_id: y, customer: { id: "cust_0" } },
    ];
    const action = await finished(await api.post("/v1/orders/import", orders));
    expect(action).toMatchObject({
      type: "ORDERS.IMPORT",
      result: { message: "1 order(s) imported successfully, 1 failed." },
    });
    expect((await api.get(`/v1/orders/${x}`)).body).toMatchObject({ status: "PAID", amount: 500 });
    const bad = await api.post("/v1/orders/import", [
      { source_id: y, items: [{ quantity: "many" }] },
    ]);
    expect(bad.body).toMatchObject({ key: "invalid_payload" });
  });

  test("updates vouchers, customers and products in bulk, and their metadata", async ({
    expect,
  }) => {
    const [a, b] = [newCode("a"), newCode("b")];
    await api.post("/v1/vouchers", {
      code: a,
      type: "GIFT_VOUCHER",
      gift: { amount: 1 },
      metadata: { x: 1 },
    });
    const bulk = await finished(
      await api.post("/v1/vouchers/bulk/async", [
        { code: a, metadata: { y: 2 } },
        { code: b, metadata: { y: 2 } },
      ]),
    );
    expect(bulk).toMatchObject({
      type: "VOUCHERS.BULK_UPDATE",
      result: {
        done_count: 1,
        failed_count: 1,
        failed: [{ code: b, reason: "Resource not found" }],
        errors: [{ code: b, reason: "Resource not found" }],
      },
    });
    const { pathname, search } = new URL(bulk["result"].reports[0], stack.url);
    const report = await fetch(`${stack.url}${pathname}${search}`);
    expect(await report.text()).toBe(`id,found,updated\n${a},true,true\n${b},false,false\n`);
    const wrong = await fetch(`${stack.url}${pathname}?token=wrong`);
    expect([wrong.status, ((await wrong.json()) as Json)["key"]]).toEqual([401, "unauthorized"]);
    await finished(
      await api.post("/v1/vouchers/metadata/async", { codes: [a], metadata: { z: 3 } }),
    );
    expect((await api.get(`/v1/vouchers/${a}`)).body["metadata"]).toEqual({ x: 1, y: 2, z: 3 });
    await finished(
      await api.post("/v1/customers/bulk/async", [
        { source_id: a, name: "Ann", address: { city: "Oslo" } },
      ]),
    );
    await finished(
      await api.post("/v1/customers/metadata/async", {
        source_ids: [a, b],
        metadata: { vip: true },
      }),
    );
    expect((await api.get(`/v1/customers/${a}`)).body).toMatchObject({
      name: "Ann",
      address: { city: "Oslo" },
      metadata: { vip: true },
    });
    expect((await api.get(`/v1/customers/${b}`)).body["metadata"]).toEqual({ vip: true });
    await finished(
      await api.post("/v1/products/bulk/async", [{ source_id: a, name: "Mug", price: 5 }]),
    );
    await finished(
      await api.post("/v1/products/metadata/async", { source_ids: [a], metadata: { m: 1 } }),
    );
    expect((await api.get(`/v1/products/${a}`)).body).toMatchObject({
      name: "Mug",
      price: 5,
      metadata: { m: 1 },
    });
  });

  test("starts one import for an idempotency key, also of a file", async ({ expect }) => {
    const { id } = await newCampaign();
    const csv = `Code\n${newCode("I")}\n`;
    const key = { "idempotency-key": newCode("key") };
    const path = `/v1/campaigns/${id}/importCSV`;
    const [first, second] = [await upload(path, csv, key), await upload(path, csv, key)];
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await upload(path, `${csv}more\n`, key)).body["key"]).toBe("idempotency_key_reused");
    await finished(first);
  });

  test(
    "continues after kill -9, and imports each valid row once",
    { timeout: 150_000 },
    async ({ expect }) => {
      const { id } = await newCampaign();
      const prefix = newCode("K");
      const rows = 2_000;
      const isBad = (row: number): boolean => row % 100 === 0;
      const csv = Array.from({ length: rows }, (_, index) =>
        isBad(index + 1) ? `${prefix}-${index + 1},yesterday` : `${prefix}-${index + 1},2099-01-01`,
      );
      const started = await upload(
        `/v1/campaigns/${id}/importCSV`,
        `Code,Expiration Date\n${csv.join("\n")}`,
      );
      expect(started.status, started.text).toBe(200);
      for (let kill = 0; kill < 2; kill += 1) {
        await sleep(Math.random() * 1_000);
        const services =
          composition === "standalone" ? [undefined] : (["export", "voucher"] as const);
        await stack.crash(services[kill % services.length]);
      }
      const { result, status, total } = await finished(started);
      const bad = Array.from({ length: rows / 100 }, (_, index) => (index + 1) * 100);
      expect([status, total]).toEqual(["DONE", rows]);
      expect(result.message).toBe(
        `${rows - bad.length} voucher(s) imported successfully, ${bad.length} failed.`,
      );
      expect(result.failed.map(({ row }: Json) => row)).toEqual(bad);
      expect((await api.get(`/v1/vouchers?campaign_id=${id}`)).body["total"]).toBe(
        rows - bad.length,
      );
      expect((await api.get(`/v1/campaigns/${id}`)).body).toMatchObject({
        vouchers_count: rows - bad.length,
        vouchers_generation_status: "DONE",
      });
      expect(await invariantViolations(stack)).toEqual([]);
    },
  );

  async function newCampaign(body: Json = {}): Promise<Json> {
    const created = await api.post("/v1/campaigns", {
      name: newCode("campaign"),
      vouchers_count: 0,
      campaign_type: "DISCOUNT_COUPONS",
      voucher: { type: "DISCOUNT_VOUCHER", discount: TEN_PERCENT },
      ...body,
    });
    if (created.status !== 200) throw new Error(created.text);
    return created.body;
  }

  const upload = (path: string, csv: string | undefined, headers: Record<string, string> = {}) =>
    uploadTo({ url: stack.url, api }, path, { csv, headers });

  const finished = (started: ApiResponse): Promise<Json> => untilFinished(api, started);
});
