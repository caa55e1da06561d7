import { describe, expect, test } from "vitest";

import { type Json, managementApi, newProject } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const DEFAULTS = {
  redeemables_limit: 30,
  applicable_redeemables_limit: 5,
  applicable_redeemables_per_category_limit: 5,
  applicable_redeemables_category_limits: {},
  applicable_exclusive_redeemables_limit: 1,
  applicable_exclusive_redeemables_per_category_limit: 1,
  exclusive_categories: [],
  joint_categories: [],
  redeemables_application_mode: "ALL",
  redeemables_sorting_rule: "REQUESTED_ORDER",
  redeemables_products_application_mode: "STACK",
  redeemables_no_effect_rule: "REDEEM_ANYWAY",
  no_effect_skip_categories: [],
  no_effect_redeem_anyway_categories: [],
  redeemables_rollback_order_mode: "WITH_ORDER",
  grouped_redeemables_sorting_rule: "JOINT_ALWAYS_LAST",
  discount_calculation_mode: "DISCOUNTED_AMOUNT",
  initial_amount_mode_categories: [],
  discounted_amount_mode_categories: [],
};

describe.each(COMPOSITIONS)("stacking rules of a project (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  test("are the defaults until they are set and after they are deleted", async () => {
    const { path, echoed } = await createProject();
    expect((await management.get(path)).body).toEqual({
      object: "list",
      data_ref: "data",
      data: [],
      total: 0,
    });
    expect(await echoed()).toEqual(DEFAULTS);

    const set = { redeemables_limit: 3, redeemables_application_mode: "PARTIAL" };
    const created = await management.post(path, set);
    expect(created.status, created.text).toBe(200);
    // The default of the second limit is lowered to the first.
    const expected = { ...DEFAULTS, ...set, applicable_redeemables_limit: 3 };
    expect(created.body).toEqual({
      id: expect.stringMatching(/^stcr_[0-9a-f]{18}$/),
      object: "stacking_rules",
      ...expected,
      created_at: expect.any(String),
      updated_at: null,
    });
    expect(await echoed()).toEqual(expected);
    const one = `${path}/${created.body["id"]}`;
    expect((await management.get(one)).body).toEqual(created.body);
    expect((await management.get(path)).body["data"]).toEqual([created.body]);

    const second = await management.post(path, {});
    expect([second.status, second.body["key"], second.body["message"]]).toEqual([
      409,
      "stacking_rules_exist",
      "Stacking rules exist",
    ]);
    expect(second.body["details"]).toBe("Cannot exist more stacking rules for given project");

    const updated = await management.put(one, {
      redeemables_limit: null,
      redeemables_sorting_rule: "CATEGORY_HIERARCHY",
    });
    expect(updated.body).toEqual({
      ...created.body,
      ...DEFAULTS,
      redeemables_application_mode: "PARTIAL",
      redeemables_sorting_rule: "CATEGORY_HIERARCHY",
      updated_at: expect.any(String),
    });

    expect((await management.delete(one)).status).toBe(204);
    expect(await echoed()).toEqual(DEFAULTS);
    for (const send of [management.get, management.put, management.delete]) {
      const deleted = await send(one);
      expect([deleted.status, deleted.body["resource_type"]]).toEqual([404, "stacking_rules"]);
    }
    expect((await management.post(path, {})).status).toBe(200);
  });

  test("are updated and deleted through the project path as well", async () => {
    const { path, echoed } = await createProject();
    for (const send of [management.put, management.delete]) {
      const missing = await send(path);
      expect([missing.status, missing.body["resource_type"]]).toEqual([404, "stacking_rules"]);
    }
    const created = await management.post(path, { redeemables_limit: 3 });
    const updated = await management.put(path, { redeemables_application_mode: "PARTIAL" });
    expect(updated.body, updated.text).toEqual({
      ...created.body,
      redeemables_application_mode: "PARTIAL",
      updated_at: expect.any(String),
    });
    expect((await management.delete(path)).status).toBe(204);
    expect(await echoed()).toEqual(DEFAULTS);
  });

  test("are rejected when out of bounds or contradictory", async () => {
    const { path } = await createProject();
    const bad: Json[] = [
      { redeemables_limit: 0 },
      { redeemables_limit: 31 },
      { applicable_redeemables_limit: 31 },
      { applicable_redeemables_per_category_limit: 0 },
      { applicable_redeemables_category_limits: { cat_x: 11 } },
      { applicable_redeemables_category_limits: { cat_x: 0 } },
      { applicable_exclusive_redeemables_limit: 6 },
      { applicable_exclusive_redeemables_per_category_limit: 6 },
      { redeemables_application_mode: "SOME" },
      { redeemables_sorting_rule: "RANDOM" },
      { redeemables_products_application_mode: "TWICE" },
      { redeemables_no_effect_rule: "IGNORE" },
      { redeemables_rollback_order_mode: "with_order" },
      { grouped_redeemables_sorting_rule: "JOINT_FIRST" },
      { discount_calculation_mode: "FULL" },
      { exclusive_categories: "cat_x" },
      { joint_categories: [1] },
      { redeemables_limit: 2, applicable_redeemables_limit: 3 },
    ];
    for (const body of bad) {
      const response = await management.post(path, body);
      expect([response.status, response.body["key"]], JSON.stringify(body)).toEqual([
        400,
        "invalid_payload",
      ]);
    }
    const created = await management.post(path, { applicable_redeemables_limit: 10 });
    const one = `${path}/${created.body["id"]}`;
    const response = await management.put(one, { redeemables_limit: 9 });
    expect(response.body["details"]).toBe(
      "Property .applicable_redeemables_limit must be <= 9, the redeemables_limit",
    );
    const unknown = await management.put(one, { joint_categories: ["cat_unknown"] });
    expect([unknown.status, unknown.body["resource_type"]]).toEqual([404, "category"]);
    expect((await management.get(one)).body).toEqual(created.body);
  });

  test("no longer contain a category after its deletion", async () => {
    const { api, path, echoed } = await createProject();
    const category = async (name: string): Promise<string> =>
      (await api.post("/v1/categories", { name, hierarchy: 1 })).body["id"];
    const [deleted, remaining] = [await category("gone"), await category("kept")];
    const created = await management.post(path, {
      exclusive_categories: [deleted, remaining],
      joint_categories: [deleted],
      applicable_redeemables_category_limits: { [deleted]: 1, [remaining]: 2 },
      applicable_redeemables_limit: 7,
    });
    expect(created.status, created.text).toBe(200);

    expect((await api.delete(`/v1/categories/${deleted}`)).status).toBe(204);
    const left = {
      ...DEFAULTS,
      exclusive_categories: [remaining],
      applicable_redeemables_category_limits: { [remaining]: 2 },
      applicable_redeemables_limit: 7,
    };
    expect((await management.get(`${path}/${created.body["id"]}`)).body).toMatchObject(left);
    expect(await echoed()).toEqual(left);
  });

  test("require an existing project and management credentials", async () => {
    const path = "/management/v1/projects/proj_000000000000000000/stacking-rules";
    const missing = await management.post(path, {});
    expect([missing.status, missing.body["resource_type"]]).toEqual([404, "project"]);
    const { api, path: own } = await createProject();
    expect((await api.get(own)).status).toBe(401);
  });

  test("are created once by concurrent requests", async () => {
    const { path } = await createProject();
    const responses = await Promise.all(Array.from({ length: 8 }, () => management.post(path, {})));
    const created = responses.filter(({ status }) => status === 200);
    expect([created.length, responses.filter(({ status }) => status === 409).length]).toEqual([
      1, 7,
    ]);
  });

  async function createProject() {
    const { id, api } = await newProject(stack);
    const echoed = async (): Promise<Json> => {
      const body = { redeemables: [{ object: "voucher", id: "NONE" }] };
      return (await api.post("/v1/validations", body)).body["stacking_rules"];
    };
    return { api, path: `/management/v1/projects/${id}/stacking-rules`, echoed };
  }
});
