import { describe, expect, test } from "vitest";

import { type Json, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("customer segments (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  const customer = async (fields: Json = {}): Promise<Json> =>
    ok(api.post("/v1/customers", { source_id: newCode("who"), ...fields }));
  const segmentsOf = async (name: string): Promise<unknown[]> =>
    (await ok(api.get(`/v1/customers/${name}/segments`)))["data"].map(({ id }: Json) => id);

  test("a static segment contains the listed customers", async () => {
    const [ann, ben] = [await customer(), await customer()];
    const segment = await ok(
      api.post("/v1/segments", { name: "Guests", type: "static", customers: [ann["id"]] }),
    );
    expect(segment).toMatchObject({
      object: "segment",
      name: "Guests",
      type: "static",
      filter: null,
      initial_sync_status: "DONE",
      updated_at: null,
    });
    expect(segment["id"]).toMatch(/^seg_[0-9a-f]{18}$/);
    expect(await ok(api.get(`/v1/segments/${segment["id"]}`))).toEqual(segment);
    expect(await ok(api.get(`/v1/customers/${ann["source_id"]}/segments`))).toEqual({
      object: "list",
      data_ref: "data",
      data: [{ id: segment["id"], name: "Guests", object: "segment" }],
      total: 1,
    });
    expect(await segmentsOf(ben["id"])).toEqual([]);
    const listed = await ok(api.get(`/v1/customers?segment_id=${segment["id"]}`));
    expect(listed["customers"].map(({ id }: Json) => id)).toEqual([ann["id"]]);

    expect((await api.delete(`/v1/segments/${segment["id"]}`)).status).toBe(204);
    expect(await segmentsOf(ann["id"])).toEqual([]);
    const afterDeletion = await api.get(`/v1/segments/${segment["id"]}`);
    expect([afterDeletion.status, afterDeletion.body["resource_type"]]).toEqual([404, "segment"]);
  });

  test("a segment that a validation rule refers to cannot be deleted", async () => {
    const createSegment = async (): Promise<string> => {
      const segment = { name: "Few", type: "static", customers: [] };
      return (await ok(api.post("/v1/segments", segment)))["id"];
    };
    const [id, other] = [await createSegment(), await createSegment()];
    const naming = (segment: string) =>
      ok(
        api.post("/v1/validation-rules", {
          name: newCode("members"),
          rules: {
            "1": {
              name: "order.amount",
              conditions: { $more_than: [1] },
            },
            "2": { name: "customer.segment", conditions: { $is_not: [other, segment] } },
          },
        }),
      );
    const rules = [await naming(id), await naming(id)];
    await naming(other);
    const inUse = await api.delete(`/v1/segments/${id}`);
    const ids = rules.map((rule) => rule["id"]);
    expect(inUse.body).toMatchObject({
      code: 400,
      key: "resource_in_use",
      message: "Resource in use",
      details: `Resource segment with id ${id} is in use by validation_rules with ids [${ids.join(", ")}]`,
      resource_id: id,
      resource_type: "segment",
      related_object_ids: ids,
      related_object_type: "validation_rule",
      related_object_total: 2,
    });
    await ok(api.get(`/v1/segments/${id}`));
    for (const rule of ids) {
      expect((await api.delete(`/v1/validation-rules/${rule}`)).status).toBe(204);
    }
    expect((await api.delete(`/v1/segments/${id}`)).status).toBe(204);
    const again = await api.delete(`/v1/segments/${id}`);
    expect([again.status, again.body["resource_type"]]).toEqual([404, "segment"]);
  });

  test("a segment with a filter contains the customers who match it now", async () => {
    const level = newCode("level");
    const ann = await customer({ metadata: { level }, address: { country: "PL" } });
    const filter = {
      junction: "AND",
      "metadata.level": { conditions: { $is: [level] } },
      "address.country": { conditions: { $in: ["PL", "DE"] } },
    };
    const { id } = await ok(api.post("/v1/segments", { name: "Poles", type: "passive", filter }));
    expect(await ok(api.get(`/v1/segments/${id}`))).toMatchObject({ type: "passive", filter });
    expect(await segmentsOf(ann["id"])).toContain(id);
    await ok(api.put(`/v1/customers/${ann["id"]}`, { country: "FR" }));
    expect(await segmentsOf(ann["id"])).not.toContain(id);
    expect((await ok(api.get(`/v1/customers?segment_id=${id}`)))["total"]).toBe(0);
    await ok(api.put(`/v1/customers/${ann["id"]}`, { address: { country: "DE" } }));
    expect((await ok(api.get(`/v1/customers?segment_id=${id}`)))["total"]).toBe(1);
  });

  test("the segments of an unknown customer are those that a customer without data matches", async () => {
    const filter = { "summary.orders.total_count": { conditions: { $is: 0 } } };
    const { id } = await ok(api.post("/v1/segments", { name: "New", type: "passive", filter }));
    const response = await ok(api.get("/v1/customers/nobody-at-all/segments"));
    expect(response).toMatchObject({ object: "list", data_ref: "data" });
    expect(response["data"]).toContainEqual({ object: "segment", id, name: "New" });
  });

  test("segments are listed newest first, page by page, with filters", async () => {
    const name = newCode("listed");
    const createdIds: string[] = [];
    for (const type of ["static", "passive", "static"]) {
      const filter = type === "static" ? {} : { filter: { id: { conditions: { $is: "x" } } } };
      createdIds.push((await ok(api.post("/v1/segments", { name, type, ...filter })))["id"]);
    }
    const filters = `filters[name][conditions][$is]=${name}`;
    const firstPage = await ok(api.get(`/v1/segments?limit=2&${filters}`));
    expect(firstPage).toMatchObject({ object: "list", data_ref: "data", total: 3 });
    expect(firstPage["data"].map(({ id }: Json) => id)).toEqual([createdIds[2], createdIds[1]]);
    const statics = `${filters}&filters[type][conditions][$in][0]=static`;
    expect((await ok(api.get(`/v1/segments?${statics}`)))["total"]).toBe(2);
    const wrong = await api.get("/v1/segments?filters[colour][conditions][$is]=red");
    expect([wrong.status, wrong.body["key"]]).toEqual([400, "invalid_query_params"]);
  });

  test.each<[string, Json, number, string]>([
    ["no name", { type: "static" }, 400, "invalid_payload"],
    ["an unknown type", { name: "n", type: "dynamic" }, 400, "invalid_payload"],
    ["no filter", { name: "n", type: "passive" }, 400, "invalid_payload"],
    [
      "a filter on a static segment",
      { name: "n", type: "static", filter: {} },
      400,
      "invalid_payload",
    ],
    [
      "customers on a passive segment",
      { name: "n", type: "passive", filter: {}, customers: ["cust_1"] },
      400,
      "invalid_payload",
    ],
    [
      "an unknown field",
      { name: "n", type: "passive", filter: { shoes: { conditions: { $is: 43 } } } },
      400,
      "invalid_payload",
    ],
    [
      "an unknown operator",
      { name: "n", type: "passive", filter: { name: { conditions: { $like: "A" } } } },
      400,
      "invalid_payload",
    ],
    ["an unknown customer", { name: "n", type: "static", customers: ["cust_x"] }, 404, "not_found"],
  ])("a segment with %s is rejected", async (_name, body, status, key) => {
    const response = await api.post("/v1/segments", body);
    expect([response.status, response.body["key"]], response.text).toEqual([status, key]);
  });

  test("a rule on a segment also evaluates a customer who exists only in the request", async () => {
    const tier = newCode("tier");
    const filter = { "metadata.tier": { conditions: { $is: tier } } };
    const { id } = await ok(api.post("/v1/segments", { name: "Tier", type: "passive", filter }));
    const rule = await ok(
      api.post("/v1/validation-rules", {
        name: "Tier only",
        rules: { 1: { name: "customer.segment", conditions: { $is: [id] } }, logic: "1" },
      }),
    );
    const code = newCode("TIER");
    await ok(
      api.post("/v1/vouchers", {
        code,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
        validation_rules: [rule["id"]],
      }),
    );
    const isValidFor = async (fields: Json): Promise<unknown> => {
      const body = { customer: fields, order: { amount: 500 } };
      return (await ok(api.post(`/v1/vouchers/${code}/validate`, body)))["valid"];
    };
    const source_id = newCode("who");
    expect(await isValidFor({ source_id, metadata: { tier } })).toBe(true);
    expect(await isValidFor({ source_id })).toBe(false);
    await customer({ source_id, metadata: { tier } });
    expect(await isValidFor({ source_id })).toBe(true);
    expect(await isValidFor({ source_id, metadata: { tier: "another" } })).toBe(false);
  });

  test("a static segment accepts the maximum number of customers, and rejects more", async () => {
    const ids = Array.from(
      { length: 20_001 },
      (_, index) => `cust_${String(index).padStart(18, "0")}`,
    );
    const body = (customers: string[]) => ({ name: "n", type: "static", customers });
    const long = await api.post("/v1/segments", body(ids.slice(1)));
    expect([long.status, long.body["resource_id"]], long.text).toEqual([404, ids[1]]);
    const longer = await api.post("/v1/segments", body(ids));
    expect([longer.status, longer.body["key"]]).toEqual([400, "invalid_payload"]);
  });

  test("permanent deletion reports the number of static segments of the customer", async () => {
    const ann = await customer();
    for (const name of ["one", "two"]) {
      await ok(api.post("/v1/segments", { name, type: "static", customers: [ann["id"]] }));
    }
    const response = await ok(api.post(`/v1/customers/${ann["id"]}/permanent-deletion`, {}));
    expect(response["data_json"]).toMatchObject({ customer: 1, segments: 2 });
  });
});
