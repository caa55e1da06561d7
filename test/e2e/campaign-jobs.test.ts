import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const percent = (value: number) => ({ type: "PERCENT", percent_off: value });

describe.each(COMPOSITIONS)("jobs of campaigns and the bin (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const campaign = (more: Json = {}): Promise<Json> =>
    ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        voucher: { discount: percent(10), redemption: { quantity: 1 } },
        ...more,
      }),
    );
  const get = (id: string): Promise<Json> => ok(api.get(`/v1/campaigns/${id}`));
  const vouchersOf = (id: string): Promise<Json> =>
    ok(api.get(`/v1/vouchers?campaign_id=${id}&limit=100`));
  const done = async (id: string): Promise<Json> => {
    await expect
      .poll(async () => (await ok(api.get(`/v1/async-actions/${id}`)))["status"], {
        timeout: 20_000,
      })
      .toMatch(/DONE|FAILED/u);
    return ok(api.get(`/v1/async-actions/${id}`));
  };
  const binEntry = async (resourceId: string): Promise<Json | undefined> => {
    const filters = `filters[resource_id][conditions][$is][0]=${resourceId}`;
    return (await ok(api.get(`/v1/trash-bin?${filters}`)))["data"][0];
  };

  test("generates more than 100 codes after the response, and adds further ones in order", async () => {
    const created = await campaign({ vouchers_count: 2345 });
    expect(created).toMatchObject({
      creation_status: "IN_PROGRESS",
      vouchers_generation_status: "IN_PROGRESS",
      vouchers_count: 0,
    });
    const path = `/v1/campaigns/${created["id"]}/vouchers?vouchers_count=150`;
    const key = newCode("key");
    const headers = { "Idempotency-Key": key };
    const added = await api.post(path, { metadata: { batch: "second" } }, headers);
    expect(added.status).toBe(202);
    const repeated = await api.post(path, { metadata: { batch: "second" } }, headers);
    expect(repeated.body).toEqual(added.body);
    expect(await done(added.body["async_action_id"])).toMatchObject({
      type: "CAMPAIGN.VOUCHERS_GENERATE",
      status: "DONE",
      operation_status: "SUCCESS",
      progress: 100,
      result: { message: "Generated 150 vouchers.", done_count: 150 },
    });
    expect(await get(created["id"])).toMatchObject({
      creation_status: "DONE",
      vouchers_generation_status: "DONE",
      vouchers_count: 2495,
    });
    expect(await vouchersOf(created["id"])).toMatchObject({ total: 2495 });
    const filters = "filters[metadata.batch][conditions][$is][0]=second";
    expect(await ok(api.get(`/v1/vouchers?campaign_id=${created["id"]}&${filters}`))).toMatchObject(
      { total: 150 },
    );
  });

  test("updates many vouchers in a job, behind the generation that runs", async () => {
    const { id } = await campaign({ vouchers_count: 2100 });
    const update = { discount: percent(25), description: "more" };
    expect(await ok(api.put(`/v1/campaigns/${id}`, update))).toMatchObject({ description: "more" });
    await expect
      .poll(async () => (await get(id))["creation_status"], { timeout: 60_000 })
      .toBe("DONE");
    const filters = "filters[discount.percent_off][conditions][$is][0]=25";
    expect(await ok(api.get(`/v1/vouchers?campaign_id=${id}&${filters}`))).toMatchObject({
      total: 2100,
    });
    expect(await get(id)).toMatchObject({
      vouchers_count: 2100,
      vouchers_generation_status: "DONE",
    });
  });

  test("rejects what cannot be generated, before any work", async () => {
    const { id } = await campaign({
      voucher: { discount: percent(1), code_config: { pattern: newCode("#") } },
    });
    const standalone = await campaign({
      type: "STANDALONE",
      voucher: { discount: percent(1), code: newCode("public") },
    });
    for (const [target, count, status, key] of [
      [id, 2000, 400, "invalid_code_config"],
      [id, 6_000_000, 400, "invalid_campaign_params"],
      [standalone["id"], 2, 400, "invalid_campaign"],
      ["camp_0", 2, 404, "not_found"],
    ] as const) {
      const { body } = await api.post(
        `/v1/campaigns/${target}/vouchers?vouchers_count=${count}`,
        {},
      );
      expect(body).toMatchObject({ code: status, key });
    }
    const large = {
      name: newCode("large"),
      vouchers_count: 5_000_001,
      voucher: { discount: percent(1) },
    };
    expect((await api.post("/v1/campaigns", large)).body).toMatchObject({
      key: "invalid_campaign_params",
    });
    expect(await vouchersOf(id)).toMatchObject({ total: 0 });
  });

  test("hides a deleted campaign with its vouchers, keeps its name and codes, and frees them from the bin", async () => {
    const name = newCode("campaign");
    const code = newCode("code");
    const body = { name, type: "STANDALONE", voucher: { discount: percent(10), code } };
    const { id } = await ok(api.post("/v1/campaigns", body));
    const deleted = await api.delete(`/v1/campaigns/${encodeURIComponent(name)}`);
    expect(deleted).toMatchObject({ status: 202 });
    expect(await done(deleted.body["async_action_id"])).toMatchObject({
      type: "CAMPAIGN.VOUCHERS_DELETE",
      result: { message: "Deleted 1 vouchers.", done_count: 1 },
    });
    for (const path of [
      `/v1/campaigns/${id}`,
      `/v1/vouchers/${code}`,
      `/v1/campaigns/${id}/vouchers/X`,
    ]) {
      const response = path.endsWith("X") ? await api.post(path, {}) : await api.get(path);
      expect(response.body).toMatchObject({ key: "not_found" });
    }
    expect((await api.delete(`/v1/campaigns/${id}`)).body).toMatchObject({ key: "not_found" });
    const redeemables = [{ object: "voucher", id: code }];
    expect(
      await ok(api.post("/v1/validations", { redeemables, order: { amount: 1000 } })),
    ).toMatchObject({
      valid: false,
      redeemables: [{ result: { error: { key: "not_found" } } }],
    });
    expect((await api.post(`/v1/vouchers/${code}/redemption`, {})).body).toMatchObject({
      key: "not_found",
    });
    expect((await api.post("/v1/campaigns", body)).body).toMatchObject({ key: "duplicate_found" });
    const other = { ...body, name: newCode("campaign") };
    expect((await api.post("/v1/campaigns", other)).body).toMatchObject({ key: "duplicate_found" });

    const entry = await binEntry(id);
    expect(entry).toMatchObject({
      object: "campaign",
      resource_type: "campaign",
      resource_name: name,
      resource_parent_id: null,
      deleted_by_user_id: null,
    });
    expect((await api.delete(`/v1/trash-bin/${entry?.["id"]}`)).status).toBe(204);
    expect((await api.delete(`/v1/trash-bin/${entry?.["id"]}`)).body).toMatchObject({
      key: "not_found",
    });
    expect(await binEntry(id)).toBeUndefined();
    expect(await ok(api.post("/v1/campaigns", body))).toMatchObject({ name });
  });

  test("deletes a campaign for good with force, and promotions with their tiers", async () => {
    const name = newCode("campaign");
    const promotion = {
      name,
      campaign_type: "PROMOTION",
      promotion: { tiers: [{ name: "T", action: { discount: percent(5) } }] },
    };
    const { id, promotion: created } = await ok(api.post("/v1/campaigns", promotion));
    const tier = created["tiers"][0]["id"];
    const { body } = await api.delete(`/v1/campaigns/${id}?force=true`);
    await done(body["async_action_id"]);
    expect((await api.get(`/v1/promotions/tiers/${tier}`)).body).toMatchObject({
      key: "not_found",
    });
    expect(
      (await api.post(`/v1/promotions/tiers/${tier}/redemption`, { order: { amount: 100 } })).body,
    ).toMatchObject({ key: "not_found" });
    expect(await binEntry(id)).toBeUndefined();
    await ok(api.post("/v1/campaigns", promotion));
  });

  test("lists a deleted product in the bin, and reserves its source id and those of its SKUs until it is removed", async () => {
    const [source, large, small] = [newCode("shirt"), newCode("l"), newCode("s")];
    const { id } = await ok(api.post("/v1/products", { source_id: source, name: "Shirt" }));
    const create = (sku: string) =>
      api.post(`/v1/products/${source}/skus`, { source_id: sku, sku });
    const { id: skuId } = await ok(create(large));
    await ok(create(small));
    expect((await api.delete(`/v1/products/${id}/skus/${large}`)).status).toBe(204);
    expect(await create(large)).toMatchObject({ status: 409, body: { key: "duplicate_found" } });
    expect((await api.delete(`/v1/products/${source}`)).status).toBe(204);
    await expect
      .poll(() => binEntry(id))
      .toMatchObject({
        id: expect.stringMatching(/^tbe_/),
        object: "product",
        resource_type: "product",
        resource_name: "Shirt",
        resource_parent_id: null,
        deleted_by_user_id: null,
      });
    await expect
      .poll(() => binEntry(skuId))
      .toMatchObject({ object: "sku", resource_name: large, resource_parent_id: id });

    // Orders and changes of other products do not bring it back.
    const again = {
      source_id: source,
      related_object: "product",
      product: { override: true, name: "Back" },
    };
    await ok(api.post("/v1/orders", { items: [{ ...again, price: 100, quantity: 1 }] }));
    expect((await api.get(`/v1/products/${source}`)).status).toBe(404);
    expect((await api.post("/v1/products", { source_id: source })).status).toBe(409);
    const other = await ok(api.post("/v1/products", { source_id: newCode("mug") }));
    expect((await api.put(`/v1/products/${other["id"]}`, { source_id: source })).status).toBe(409);

    const entry = await binEntry(id);
    expect((await api.delete(`/v1/trash-bin/${entry?.["id"]}`)).status).toBe(204);
    expect([await binEntry(id), await binEntry(skuId)]).toEqual([undefined, undefined]);
    const fresh = await ok(api.post("/v1/products", { source_id: source }));
    expect(fresh["id"]).not.toBe(id);
    for (const sku of [large, small]) await ok(create(sku));
    expect((await api.delete(`/v1/products/${source}?force=true`)).status).toBe(204);
    await ok(api.post("/v1/products", { source_id: source }));
    expect(await binEntry(fresh["id"])).toBeUndefined();
  });

  test("lists a deleted voucher in the bin until its code is freed", async () => {
    const { id: campaignId, name } = await campaign();
    const code = newCode("code");
    const { id } = await ok(
      api.post(`/v1/campaigns/${encodeURIComponent(name)}/vouchers/${code}`, {}),
    );
    expect((await api.delete(`/v1/vouchers/${code}`)).status).toBe(204);
    await expect
      .poll(() => binEntry(id))
      .toMatchObject({
        object: "voucher",
        resource_name: code,
        resource_parent_id: campaignId,
      });
    const create = () =>
      api.post(`/v1/vouchers/${code}`, { type: "GIFT_VOUCHER", gift: { amount: 5 } });
    expect((await create()).body).toMatchObject({ key: "duplicate_found" });
    const entry = await binEntry(id);
    expect((await api.delete(`/v1/trash-bin/${entry?.["id"]}`)).status).toBe(204);
    await ok(create());
    expect(await binEntry(id)).toBeUndefined();
  });
});
