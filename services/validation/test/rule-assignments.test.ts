import path from "node:path";

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApiError } from "@scrip/errors";
import { newId, newRequestId } from "@scrip/ids";
import { createDefinitionVersions } from "@scrip/postgres";
import {
  type CampaignResultSchema,
  CampaignResultSchema as CampaignResult,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { ListReferencesResponseSchema } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import {
  type CreateValidationRuleRequestSchema,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { VoucherResultSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createRuleCaches, loadValidationRules } from "../src/loading/validation-rules.ts";
import { routes } from "../src/routes.ts";
import { listValidationProjects, validationInvariants } from "../src/store/invariants.ts";

const db = await testDatabase({
  schema: "validation",
  role: "scrip_validation",
  folder: path.join(import.meta.dirname, "../migrations"),
});
afterAll(() => db[Symbol.asyncDispose]());

type NewRule = MessageInitShape<typeof CreateValidationRuleRequestSchema>;

const NOON = Date.parse("2026-03-01T12:00:00Z");
const ABOVE_100 = { "1": { name: "order.amount", conditions: { $more_than: [10_000] } } };

describe("loadValidationRules", () => {
  test("returns the rules of objects that have some, in the order of assignment", async () => {
    const shop = createShop();
    const [one, two] = [await shop.rule(), await shop.rule()];
    const [voucher, other, bare] = [newId("v"), newId("v"), newId("v")];
    await shop.assign(voucher, [two.id]);
    await shop.assign(voucher, [one.id], NOON + 1);
    await shop.assign(other, [one.id]);
    const rules = await shop.loadRules([voucher, bare, other]);
    expect([...rules.keys()].toSorted()).toEqual([voucher, other].toSorted());
    expect(rules.get(voucher)?.map(({ id }) => id)).toEqual([two.id, one.id]);
    expect(rules.get(other)?.map(({ id }) => id)).toEqual([one.id]);
  });

  test("needs no query for cached objects, and one for all new ones", async () => {
    const shop = createShop();
    const rule = await shop.rule();
    const old = Array.from({ length: 1_000 }, (_, i) => oldId(i));
    await shop.assign(oldId(7), [rule.id]);
    expect((await shop.loadRules(old)).size).toBe(1);
    const before = shop.queries();
    expect((await shop.loadRules(old)).size).toBe(1);
    expect((await shop.loadRules(["v_000000000000001000"])).size).toBe(0);
    expect(shop.queries()).toBe(before);
    const fresh = Array.from({ length: 100 }, () => newId("v"));
    await Promise.all(fresh.map((id) => shop.loadRules([id])));
    expect(shop.queries()).toBe(before + 1);
  });

  test("caches a project with very many assignments object by object", async () => {
    const shop = createShop();
    const rule = await shop.rule();
    const objects = Array.from({ length: 1_500 }, (_, i) => oldId(i));
    await shop.assignAll(objects, rule.id);
    expect((await shop.loadRules(objects)).size).toBe(1_500);
    expect((await shop.loadRules([oldId(9_999)])).size).toBe(0);
    const before = shop.queries();
    expect((await shop.loadRules([...objects, oldId(9_999)])).size).toBe(1_500);
    expect(shop.queries()).toBe(before);
  });

  test("sees changes of rules and assignments immediately", async () => {
    const shop = createShop({ vouchers: ["SUMMER"] });
    const rule = await shop.rule({ error: { message: "old" } });
    const voucher = shop.idOf("SUMMER");
    expect((await shop.loadRules([voucher])).size).toBe(0);
    const { id } = await shop.client.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: "SUMMER" },
      shop.call,
    );
    expect((await shop.loadRules([voucher])).get(voucher)?.[0]?.message).toBe("old");
    await shop.client.updateValidationRule(
      { validationRuleId: rule.id, error: { message: "new" } },
      shop.call,
    );
    expect((await shop.loadRules([voucher])).get(voucher)?.[0]?.message).toBe("new");
    await shop.client.deleteAssignment({ validationRuleId: rule.id, assignmentId: id }, shop.call);
    expect((await shop.loadRules([voucher])).size).toBe(0);
  });

  test("finds the rules of an object that another process has just created", async () => {
    const firstProcess = createShop();
    const secondProcess = createShop({ project: firstProcess.call.project.id });
    const rule = await firstProcess.rule();
    await secondProcess.assign(oldId(1), [rule.id]);
    expect((await firstProcess.loadRules([oldId(1)])).size).toBe(1);
    const voucherId = newId("v");
    await secondProcess.assign(voucherId, [rule.id]);
    expect((await firstProcess.loadRules([voucherId])).get(voucherId)).toHaveLength(1);
  });

  test("fails on a stored rule that cannot be parsed instead of ignoring it", async () => {
    const shop = createShop();
    const rule = await shop.rule();
    await shop.assign(oldId(1), [rule.id]);
    await db.query("update validation_rule set rules = '{\"1\": 5}' where id = $1", [rule.id]);
    await expect(shop.loadRules([oldId(1)])).rejects.toThrow(rule.id);

    const projectId = shop.call.project.id;
    expect(await listValidationProjects(db)).toContain(projectId);
    const check = validationInvariants.find(({ name }) => name === "Validation rules");
    const chunk = await check?.checkChunk(db, { projectId, after: "", limit: 100 });
    expect(chunk).toMatchObject({ checked: 1, last: null, violations: [{ subject: rule.id }] });
  });
});

test("rules are returned while loyalty is away, without the earning rules that they are assigned to", async () => {
  const shop = createShop({
    listEarningRuleAssignments: () => Promise.reject(new ApiError("service_unavailable")),
  });
  const rule = await shop.rule();
  await shop.assign(newId("v"), [rule.id]);
  const ofRule = { validationRuleId: rule.id };
  expect(await shop.client.getValidationRule(ofRule, shop.call)).toMatchObject({
    assignmentsCount: 1n,
  });
  const updated = await shop.client.updateValidationRule({ ...ofRule, name: "New" }, shop.call);
  expect(updated).toMatchObject({ name: "New", assignmentsCount: 1n });
  expect(shop.errors).toHaveLength(2);
  await expect(shop.client.listRuleAssignments(ofRule, shop.call)).rejects.toMatchObject({
    key: "service_unavailable",
  });
});

describe("AssignRules", () => {
  test("assigns all rules of an item or none, and changes nothing when repeated", async () => {
    const shop = createShop();
    const [one, two] = [await shop.rule(), await shop.rule()];
    const [good, bad] = [newId("v"), newId("v")];
    const request = {
      items: [shop.item(good, [one.id, two.id, one.id]), shop.item(bad, [one.id, "val_unknown"])],
    };
    const { outcomes } = await shop.client.assignRules(request, shop.call);
    expect(outcomes.map(({ unknownRuleId }) => unknownRuleId)).toEqual([undefined, "val_unknown"]);
    await shop.client.assignRules(request, shop.call);
    expect(await shop.assignmentsOf(good)).toEqual([one.id, two.id]);
    expect(await shop.assignmentsOf(bad)).toEqual([]);
    await shop.client.revokeRules(
      { items: [{ projectId: shop.call.project.id, relatedObjectId: good }] },
      shop.call,
    );
    expect(await shop.assignmentsOf(good)).toEqual([]);
  });

  test("reports a rule of another project as unknown", async () => {
    const rule = await createShop().rule();
    const shop = createShop();
    const { outcomes } = await shop.client.assignRules(
      { items: [shop.item(newId("v"), [rule.id])] },
      shop.call,
    );
    expect(outcomes[0]?.unknownRuleId).toBe(rule.id);
  });

  test("assigns one of two rules that are assigned to a campaign concurrently", async () => {
    const shop = createShop({ campaigns: ["Spring"] });
    const rules = await Promise.all(Array.from({ length: 8 }, () => shop.rule()));
    const outcomes = await Promise.allSettled(
      rules.map(({ id }) =>
        shop.client.createAssignment(
          { validationRuleId: id, relatedObjectType: "campaign", relatedObjectId: "Spring" },
          shop.call,
        ),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(outcome.reason).toMatchObject({ key: "invalid_payload" });
      }
    }
  });
});

describe("DeleteValidationRule", () => {
  test("rejects a rule that is in use, or assigned to an object that may still be created", async () => {
    const shop = createShop({ vouchers: ["SUMMER"] });
    const rule = await shop.rule();
    await shop.assign(shop.idOf("SUMMER"), [rule.id]);
    const deleting = () =>
      shop.client.deleteValidationRule({ validationRuleId: rule.id }, shop.call);
    await expect(deleting()).rejects.toMatchObject({
      key: "resource_in_use",
      options: {
        details: `Resource validation_rules with id ${rule.id} is in use by vouchers with ids [${shop.idOf("SUMMER")}]`,
        resourceId: rule.id,
        resourceType: "validation_rules",
      },
    });
    const young = await shop.rule();
    await shop.assign(newId("v"), [young.id]);
    await expect(
      shop.client.deleteValidationRule({ validationRuleId: young.id }, shop.call),
    ).rejects.toMatchObject({ key: "resource_in_use" });
  });

  test("leaves no dangling assignment when a rule is deleted and assigned concurrently", async () => {
    const shop = createShop();
    for (let round = 0; round < 20; round += 1) {
      const rule = await shop.rule();
      const voucher = newId("v");
      const [deleted, assigned] = await Promise.allSettled([
        shop.client.deleteValidationRule({ validationRuleId: rule.id }, shop.call),
        shop.assign(voucher, [rule.id]),
      ]);
      if (deleted.status === "rejected") {
        expect(deleted.reason).toMatchObject({ key: "resource_in_use" });
      }
      const outcome = assigned.status === "fulfilled" ? assigned.value.outcomes[0] : undefined;
      expect(outcome?.unknownRuleId).toBe(deleted.status === "fulfilled" ? rule.id : undefined);
      expect(await shop.assignmentsOf(voucher)).toEqual(
        deleted.status === "fulfilled" ? [] : [rule.id],
      );
    }
  });

  test("deletes assignments of objects that were deleted or never created", async () => {
    const shop = createShop();
    const rule = await shop.rule();
    const deletedIds = Array.from({ length: 250 }, (_, i) => oldId(i));
    await shop.assignAll(deletedIds, rule.id);
    await db.query(
      "update validation_rule_assignment set id = 'asgm_000000' || substr(id, 12) where rule_id = $1",
      [rule.id],
    );
    await shop.client.deleteValidationRule({ validationRuleId: rule.id }, shop.call);
    expect((await shop.loadRules(deletedIds)).size).toBe(0);
    await expect(
      shop.client.deleteValidationRule({ validationRuleId: rule.id }, shop.call),
    ).rejects.toMatchObject({ key: "not_found" });
  });
});

/** A project in which these vouchers and campaigns exist, accessed by one process. */
function createShop({
  project = newId("proj"),
  vouchers = [] as readonly string[],
  campaigns = [] as readonly string[],
  listEarningRuleAssignments = async (): Promise<unknown[]> => [],
} = {}) {
  let queries = 0;
  const errors: Error[] = [];
  const counted = {
    ...db,
    query: (...args: Parameters<typeof db.query>) => {
      queries += 1;
      return db.query(...args);
    },
  } as typeof db;
  const ids = new Map([
    ...vouchers.map((code, i): [string, string] => [code, oldId(i)]),
    ...campaigns.map((name, i): [string, string] => [name, oldId(i).replace("v_", "camp_")]),
  ]);
  const named = (name: string) => [...ids].find(([key, id]) => key === name || id === name);
  const definitions = createDefinitionVersions({ db: counted, now: () => 0 });
  const ruleCaches = createRuleCaches(counted, definitions);
  const clients = {
    loadVouchers: async ({ codes }: { readonly codes: readonly string[] }) =>
      create(VoucherResultSchema, {
        vouchers: codes.map((code) => {
          const found = named(code);
          return found === undefined ? {} : { voucher: { id: found[1], code: found[0] } };
        }),
      }),
    resolveCampaigns: async (query: { readonly campaignNames?: readonly string[] | undefined }) =>
      create(CampaignResult, {
        campaigns: (query.campaignNames ?? []).flatMap((name) => {
          const found = named(name);
          return found === undefined ? [] : { id: found[1], name: found[0] };
        }),
      } satisfies MessageInitShape<typeof CampaignResultSchema>),
    listReferences: async () => create(ListReferencesResponseSchema),
    listEarningRuleAssignments,
  };
  const deps = {
    db: counted,
    newId,
    definitions,
    ruleCaches,
    clients,
    onError: (error: Error) => void errors.push(error),
    onEvents: () => {},
  };
  // The tested handlers use nothing else.
  const implementations = routes(deps as unknown as Parameters<typeof routes>[0]);
  const client = clientOf(ValidationRuleService, createDirectTransport(implementations));
  const call: Call = {
    project: { id: project, timeZone: "UTC", caseSensitiveCodes: true },
    requestId: newRequestId(),
    deadline: Date.now() + 60_000,
    now: NOON,
    caller: { side: "server", id: "app_1" },
  };
  const item = (objectId: string, ruleIds: string[], now = NOON) => ({
    projectId: project,
    now: timestampFromMs(now),
    relatedObjectType: "voucher",
    relatedObjectId: objectId,
    ruleIds,
  });
  return {
    call,
    client,
    item,
    errors,
    idOf: (name: string) => ids.get(name) ?? "",
    queries: () => queries,
    rule: (rule: Partial<NewRule> = {}) =>
      client.createValidationRule({ name: "A rule", rules: ABOVE_100, ...rule }, call),
    assign: (objectId: string, ruleIds: string[], now = NOON) =>
      client.assignRules({ items: [item(objectId, ruleIds, now)] }, call),
    assignAll: (objectIds: readonly string[], ruleId: string) =>
      client.assignRules({ items: objectIds.map((id) => item(id, [ruleId])) }, call),
    assignmentsOf: async (objectId: string) => {
      const queried = { projectId: project, relatedObjectIds: [objectId] };
      const { results } = await client.resolveAssignments({ queries: [queried] }, call);
      return results[0]?.assignments.map(({ ruleId }) => ruleId);
    },
    loadRules: (objectIds: readonly string[]) =>
      loadValidationRules({ ruleCaches }, call, objectIds),
  };
}

/** Id of an object that was created long ago. */
const oldId = (index: number): string => `v_000000000001${index.toString(16).padStart(6, "0")}`;
