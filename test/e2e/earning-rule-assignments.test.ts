import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject, serverApi } from "../stack/api.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { errorOf, ok, orderAbove, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const FIVE_POINTS = { event: "order.paid", loyalty: { type: "FIXED", points: 5 } };

describe.each(COMPOSITIONS)("validation rules of earning rules (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { assign, createRule, createVoucher } = ruleBuilders(api);

  async function setUp() {
    const program = await createLoyaltyProgram(api, { points: 0 });
    const earningRules = `/v1/loyalties/${program.campaignId}/earning-rules`;
    const create = async (more: Json = {}): Promise<Json> =>
      ((await ok(api.post(earningRules, [{ ...FIVE_POINTS, ...more }]))) as unknown as Json[])[0] ??
      {};
    const read = (id: string): Promise<Json> => ok(api.get(`${earningRules}/${id}`));
    return { program, earningRules, create, read };
  }

  const assignmentsOf = (rule: Json, query = ""): Promise<Json> =>
    ok(api.get(`/v1/validation-rules/${rule["id"]}/assignments${query}`));

  test("are assigned, decide who earns points, and are removed", async () => {
    const { program, create, read } = await setUp();
    const [rule, { id }] = [await createRule({ rules: orderAbove(10_000) }), await create()];
    const assigned = await ok(assign(rule, "earning_rule", id));
    expect(assigned).toEqual({
      id: expect.stringMatching(/^asgm_[0-9a-f]{18}$/),
      rule_id: rule["id"],
      related_object_id: id,
      related_object_type: "earning_rule",
      created_at: expect.any(String),
      object: "validation_rules_assignment",
    });
    expect(await read(id)).toMatchObject({
      validation_rule_id: rule["id"],
      updated_at: assigned["created_at"],
    });
    expect(await ok(api.get(`/v1/validation-rules/${rule["id"]}`))).toMatchObject({
      assignments_count: 1,
    });
    const card = await program.createCard();
    const { customer } = card;
    const pay = (amount: number) =>
      ok(api.post("/v1/orders", { status: "PAID", amount, customer }));
    await pay(9_000);
    await pay(11_000);
    await expect.poll(() => balanceOf(api, card)).toBe(5);

    const path = `/v1/validation-rules/${rule["id"]}/assignments/${assigned["id"]}`;
    expect((await api.delete(path)).status).toBe(204);
    expect((await read(id))["validation_rule_id"]).toBeNull();
    expect(await errorOf(api.delete(path))).toEqual([
      404,
      "not_found",
      "validation_rules_assignment",
    ]);
    expect((await assignmentsOf(rule))["total"]).toBe(0);
    await pay(9_000);
    await expect.poll(() => balanceOf(api, card)).toBe(10);
  });

  test("decide by their latest conditions, also while the clock of a sandbox stands still or is set back", async () => {
    const { id: projectId, api: sandbox } = await newProject(stack, { sandbox: true });
    const setClock = (now: string) =>
      ok(managementApi(stack).put(`/management/v1/projects/${projectId}/clock`, { now }));
    await setClock("2026-03-10T12:00:00.000Z");
    const { campaignId, createCard } = await createLoyaltyProgram(sandbox, { points: 0 });
    const rule = await ruleBuilders(sandbox).createRule({ rules: orderAbove(100) });
    const earningRule = { ...FIVE_POINTS, validation_rule_id: rule["id"] };
    await ok(sandbox.post(`/v1/loyalties/${campaignId}/earning-rules`, [earningRule]));
    const order = { amount: 1_000 };
    const { customer } = await createCard();
    const estimate = async () =>
      (await ok(sandbox.post(`/v1/loyalties/${campaignId}/qualifications`, { customer, order })))[
        "points_estimation"
      ];
    const change = (amount: number) =>
      ok(sandbox.put(`/v1/validation-rules/${rule["id"]}`, { rules: orderAbove(amount) }));
    expect(await estimate()).toBe(5);
    await change(2_000);
    await expect.poll(estimate).toBe(0);
    await setClock("2026-03-09T12:00:00.000Z");
    await change(200);
    await expect.poll(estimate).toBe(5);
  });

  test("are listed with other assignments, whichever request set them", async () => {
    const { create, earningRules } = await setUp();
    const rule = await createRule();
    const first = await create({ validation_rule_id: rule["id"] });
    const voucher = await createVoucher({ validation_rules: [rule["id"]] });
    const last = await create();
    await ok(api.put(`${earningRules}/${last["id"]}`, { validation_rule_id: rule["id"] }));
    const ids = [last["id"], voucher["id"], first["id"]];
    const idsOf = ({ data }: Json): string[] => data.map((one: Json) => one["related_object_id"]);
    const all = await assignmentsOf(rule);
    expect(all["total"]).toBe(3);
    expect(idsOf(all)).toEqual(ids);
    expect(all["data"][2]["created_at"]).toBe(first["created_at"]);
    for (const [at, id] of ids.entries()) {
      const page = await assignmentsOf(rule, `?limit=1&page=${at + 1}`);
      expect([page["total"], idsOf(page)]).toEqual([3, [id]]);
    }
    const ofObject = `/v1/validation-rules-assignments?related_object_id=${first["id"]}`;
    expect(await ok(api.get(ofObject))).toMatchObject({ total: 1, data: [all["data"][2]] });
    expect(idsOf(await assignmentsOf(rule, "?created_at[before]=2020-01-01"))).toEqual([]);
    const { data: rules } = await ok(api.get("/v1/validation-rules?limit=100"));
    expect(rules.find((one: Json) => one["id"] === rule["id"])).toMatchObject({
      assignments_count: 3,
    });
    await ok(api.put(`${earningRules}/${last["id"]}`, { validation_rule_id: null }));
    expect((await api.delete(`${earningRules}/${first["id"]}`)).status).toBe(204);
    expect(idsOf(await assignmentsOf(rule))).toEqual([voucher["id"]]);
  });

  test("leave one entry of the audit log for each change, and none for a rejected one", async () => {
    const { create } = await setUp();
    const [rule, { id }] = [await createRule(), await create()];
    const assigned = await ok(assign(rule, "earning_rule", id));
    expect((await assign(rule, "earning_rule", id)).status).toBe(409);
    const path = `/v1/validation-rules/${rule["id"]}/assignments/${assigned["id"]}`;
    expect((await api.delete(path)).status).toBe(204);
    expect((await api.delete(path)).status).toBe(404);
    const entriesOf = async (resource: Json): Promise<Json[]> =>
      (await ok(api.get(`/v1/audit-log?resource_id=${resource["id"]}`)))["data"];
    const resource = { type: "validation_rules_assignment" };
    await expect
      .poll(() => entriesOf(assigned), { timeout: 30_000 })
      .toMatchObject([
        { action: "unassignValidationRule", resource },
        { action: "assignValidationRule", resource },
      ]);
  });

  test("are one at most for each earning rule, once under each idempotency key", async () => {
    const { create } = await setUp();
    const [rule, other, { id }] = [await createRule(), await createRule(), await create()];
    const path = `/v1/validation-rules/${rule["id"]}/assignments`;
    const body = { related_object_type: "earning_rule", related_object_id: id };
    const keyed = () => api.post(path, body, { "idempotency-key": key });
    const key = newCode("key");
    const [one, again] = [await ok(keyed()), await ok(keyed())];
    expect(again).toEqual(one);
    expect((await api.post(path, body)).body).toMatchObject({
      code: 409,
      key: "duplicate_found",
      resource_type: "validation_rules_assignment",
      resource_id: one["id"],
    });
    expect((await assign(other, "earning_rule", id)).body).toMatchObject({
      key: "invalid_payload",
      details: `An earning rule has one validation rule at most: ${id} has ${rule["id"]}`,
    });
    expect((await api.delete(`/v1/validation-rules/${rule["id"]}`)).body).toMatchObject({
      key: "resource_in_use",
      related_object_type: "earning_rule",
    });
    expect(await errorOf(assign({ id: "val_none" }, "earning_rule", id))).toEqual([
      404,
      "not_found",
      "validation_rules",
    ]);
    const concurrent = await create();
    const statuses = await Promise.all(
      Array.from(
        { length: 8 },
        async (_, at) =>
          (await assign(at % 2 === 0 ? rule : other, "earning_rule", concurrent["id"])).status,
      ),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });
});
