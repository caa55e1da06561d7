import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, test } from "vitest";

import { createPromotionTier, createVoucher, newCode } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { rules, campaigns } = services;

const ABOVE_100 = { "1": { name: "order.amount", conditions: { $more_than: [10_000] } } };
const UNKNOWN = "val_000000000000000000";

describe("CreateValidationRule", () => {
  test("creates a rule with defaults that GetValidationRule returns", async () => {
    const call = newProject();
    const created = await rules.createValidationRule({ name: "Large", rules: ABOVE_100 }, call());
    expect(created).toMatchObject({
      name: "Large",
      rules: ABOVE_100,
      type: "expression",
      contextType: "global",
      assignmentsCount: 0n,
    });
    expect(created.id).toMatch(/^val_/);
    expect(await rules.getValidationRule({ validationRuleId: created.id }, call())).toEqual(
      created,
    );
  });

  test("uses the id as the name of an unnamed rule", async () => {
    const created = await rules.createValidationRule({ rules: ABOVE_100 }, newProject()());
    expect(created.name).toBe(created.id);
  });

  test("rejects a rule that cannot be evaluated with invalid_validation_rules", async () => {
    const request = { rules: { "1": { name: "order.nonsense", conditions: { $is: [1] } } } };
    expect(await rejectionKey(rules.createValidationRule(request, newProject()()))).toBe(
      "invalid_validation_rules",
    );
  });
});

describe("UpdateValidationRule", () => {
  test("replaces sent fields as a whole, and clears those sent as null", async () => {
    const call = newProject();
    const { id } = await rules.createValidationRule(
      { name: "Large", rules: ABOVE_100, error: { message: "Too small" } },
      call(),
    );
    const updated = await rules.updateValidationRule(
      { validationRuleId: id, name: "Larger", updateMask: { paths: ["name", "error"] } },
      call(),
    );
    expect(updated).toMatchObject({ id, name: "Larger", rules: ABOVE_100 });
    expect(updated.error).toBeUndefined();
  });

  test("rejects an unknown rule, and rules that cannot be evaluated", async () => {
    const call = newProject();
    expect(
      await rejectionKey(rules.updateValidationRule({ validationRuleId: UNKNOWN }, call())),
    ).toBe("not_found");
    const { id } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const request = { validationRuleId: id, rules: { "1": { name: "nonsense" } } };
    expect(await rejectionKey(rules.updateValidationRule(request, call()))).toBe(
      "invalid_validation_rules",
    );
  });
});

describe("DeleteValidationRule", () => {
  test("deletes a rule; a repetition is not_found", async () => {
    const call = newProject();
    const { id } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    await rules.deleteValidationRule({ validationRuleId: id }, call());
    expect(await rejectionKey(rules.deleteValidationRule({ validationRuleId: id }, call()))).toBe(
      "not_found",
    );
  });

  test("rejects a rule that is assigned with resource_in_use", async () => {
    const call = newProject();
    const { id } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const voucher = await createVoucher(services, call());
    await rules.createAssignment(
      { validationRuleId: id, relatedObjectType: "voucher", relatedObjectId: voucher.id },
      call(),
    );
    expect(await rejectionKey(rules.deleteValidationRule({ validationRuleId: id }, call()))).toBe(
      "resource_in_use",
    );
  });
});

describe("ListValidationRules", () => {
  test("returns pages in the requested order, and the total", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    for (const [index, name] of ["a", "b", "c"].entries()) {
      await rules.createValidationRule(
        { name, rules: ABOVE_100 },
        call({ now: start + index * 1_000 }),
      );
    }
    const page = await rules.listValidationRules({ limit: 2n, page: 1n }, call());
    expect(page.data.map(({ name }) => name)).toEqual(["c", "b"]);
    expect(page.total).toBe(3n);
  });

  test("sorts by name", async () => {
    const call = newProject();
    for (const name of ["b", "a", "c"]) await rules.createValidationRule({ name }, call());
    const names = async (order: string) =>
      (await rules.listValidationRules({ order }, call())).data.map(({ name }) => name);
    expect(await names("name")).toEqual(["a", "b", "c"]);
    expect(await names("-name")).toEqual(["c", "b", "a"]);
  });

  test("filters by time of creation, inclusive with dates and exclusive with a range", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    const at = (seconds: number) => timestampFromMs(start + seconds * 1_000);
    for (const [index, name] of ["a", "b", "c"].entries()) {
      await rules.createValidationRule({ name }, call({ now: start + index * 1_000 }));
    }
    const names = async (range: object) => {
      const { data, total } = await rules.listValidationRules({ order: "name", ...range }, call());
      expect(total).toBe(BigInt(data.length));
      return data.map(({ name }) => name).join("");
    };
    expect(await names({ startDate: at(1) })).toBe("bc");
    expect(await names({ endDate: at(1) })).toBe("ab");
    expect(await names({ createdAt: { after: at(0), before: at(2) } })).toBe("b");
    expect(await names({ startDate: at(3) })).toBe("");
  });
});

describe("lists of validation", () => {
  test("filter by time of creation", async () => {
    const call = newProject();
    const past = { createdAt: { before: timestampFromMs(Date.now() - 3_600_000) } };
    const recent = { createdAt: { after: timestampFromMs(Date.now() - 3_600_000) } };
    const product = await services.products.createProduct({ sourceId: "shirt" }, call());
    const productId = product.id;
    await services.products.createSku({ productId, sourceId: "shirt-l" }, call());
    await services.orders.createOrder({ sourceId: "cart", amount: 1n }, call());
    const { id: productCollectionId } = await services.collections.createProductCollection(
      { name: "All", type: "STATIC", products: [{ object: "product", id: productId }] },
      call(),
    );
    const { id: validationRuleId } = await rules.createValidationRule({}, call());
    const { id: voucher } = await createVoucher(services, call());
    await rules.createAssignment({ validationRuleId, voucher }, call());
    const { products, orders, collections } = services;
    for (const list of [
      (range: typeof past | typeof recent) => products.listProducts(range, call()),
      (range: typeof past | typeof recent) => products.listSkus({ productId, ...range }, call()),
      (range: typeof past | typeof recent) => orders.listOrders(range, call()),
      (range: typeof past | typeof recent) => collections.listProductCollections(range, call()),
      (range: typeof past | typeof recent) =>
        collections.listCollectionProducts({ productCollectionId, ...range }, call()),
      (range: typeof past | typeof recent) => rules.listAssignments(range, call()),
      (range: typeof past | typeof recent) =>
        rules.listRuleAssignments({ validationRuleId, ...range }, call()),
    ]) {
      expect((await list(recent)).total).toBe(1n);
      expect((await list(past)).total).toBe(0n);
    }
  });
});

describe("CreateAssignment", () => {
  test("accepts the older fields voucher, campaign and promotion_tier", async () => {
    const call = newProject();
    const { id: validationRuleId } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const voucher = await createVoucher(services, call());
    const tier = await createPromotionTier(services, call());
    const assign = (object: object) =>
      rules.createAssignment({ validationRuleId, ...object }, call());
    expect(await assign({ voucher: voucher.code })).toMatchObject({
      relatedObjectType: "voucher",
      relatedObjectId: voucher.id,
    });
    expect(await assign({ promotionTier: tier.id })).toMatchObject({
      relatedObjectType: "promotion_tier",
      relatedObjectId: tier.id,
    });
    expect(await assign({ campaign: tier.campaignId })).toMatchObject({
      relatedObjectType: "campaign",
      relatedObjectId: tier.campaignId,
    });
    for (const object of [
      {},
      { voucher: voucher.code, campaign: tier.campaignId },
      { relatedObjectType: "voucher" },
      { relatedObjectId: voucher.id },
    ]) {
      expect(await rejectionKey(assign(object))).toBe("invalid_payload");
    }
    expect(await rejectionKey(assign({ voucher: "UNKNOWN" }))).toBe("not_found");
  });

  test("assigns a rule to a voucher, a campaign and a promotion tier", async () => {
    const call = newProject();
    const { id: validationRuleId } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const voucher = await createVoucher(services, call());
    const tier = await createPromotionTier(services, call());
    const assign = (relatedObjectType: string, relatedObjectId: string) =>
      rules.createAssignment({ validationRuleId, relatedObjectType, relatedObjectId }, call());
    expect(await assign("voucher", voucher.code)).toMatchObject({ relatedObjectId: voucher.id });
    expect(await assign("promotion_tier", tier.id)).toMatchObject({ relatedObjectId: tier.id });
    const campaign = await campaigns.getCampaign({ campaignId: tier.campaignId }, call());
    expect(await assign("campaign", campaign.name)).toMatchObject({ relatedObjectId: campaign.id });
    const own = await rules.listRuleAssignments({ validationRuleId }, call());
    expect(own.total).toBe(3n);
    const unknown = await rules.listRuleAssignments({ validationRuleId: "val_unknown" }, call());
    expect(unknown.total).toBe(0n);
    expect((await rules.listAssignments({ limit: 2n }, call())).data).toHaveLength(2);
    const total = async (filter: object) => (await rules.listAssignments(filter, call())).total;
    expect(await total({ rule: validationRuleId })).toBe(3n);
    expect(await total({ rule: "val_unknown" })).toBe(0n);
    expect(await total({ relatedObjectId: tier.id })).toBe(1n);
    expect(await total({ rule: validationRuleId, relatedObjectId: voucher.id })).toBe(1n);
    expect(await total({ relatedObjectId: "v_unknown" })).toBe(0n);
    expect(await rules.getValidationRule({ validationRuleId }, call())).toMatchObject({
      assignmentsCount: 3n,
    });
  });

  test("rejects a repetition with duplicate_found", async () => {
    const call = newProject();
    const { id } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const voucher = await createVoucher(services, call());
    const request = {
      validationRuleId: id,
      relatedObjectType: "voucher",
      relatedObjectId: voucher.id,
    };
    await rules.createAssignment(request, call());
    expect(await rejectionKey(rules.createAssignment(request, call()))).toBe("duplicate_found");
  });

  test("rejects a second rule of a campaign with invalid_payload", async () => {
    const call = newProject();
    const one = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const two = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const { campaignId } = await createPromotionTier(services, call());
    const assign = (validationRuleId: string) =>
      rules.createAssignment(
        { validationRuleId, relatedObjectType: "campaign", relatedObjectId: campaignId },
        call(),
      );
    await assign(one.id);
    expect(await rejectionKey(assign(two.id))).toBe("invalid_payload");
  });

  test("rejects an unknown rule, object and object type with not_found", async () => {
    const call = newProject();
    const { id } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const voucher = await createVoucher(services, call());
    const assign = (validationRuleId: string, relatedObjectType: string, relatedObjectId: string) =>
      rejectionKey(
        rules.createAssignment({ validationRuleId, relatedObjectType, relatedObjectId }, call()),
      );
    expect(await assign(UNKNOWN, "voucher", voucher.id)).toBe("not_found");
    expect(await assign(id, "voucher", newCode("NONE"))).toBe("not_found");
    expect(await assign(id, "spaceship", voucher.id)).toBe("not_found");
  });
});

describe("DeleteAssignment", () => {
  test("ends the effect of the rule; a repetition is not_found", async () => {
    const call = newProject();
    const { id: validationRuleId } = await rules.createValidationRule({ rules: ABOVE_100 }, call());
    const { id, code } = await createVoucher(services, call());
    const { id: assignmentId } = await rules.createAssignment(
      { validationRuleId, relatedObjectType: "voucher", relatedObjectId: id },
      call(),
    );
    const request = { code, order: { amount: 5_000n } };
    expect((await services.validations.validateVoucher(request, call())).valid).toBe(false);
    await rules.deleteAssignment({ validationRuleId, assignmentId }, call());
    expect((await services.validations.validateVoucher(request, call())).valid).toBe(true);
    expect(
      await rejectionKey(rules.deleteAssignment({ validationRuleId, assignmentId }, call())),
    ).toBe("not_found");
  });
});

describe("ResolveAssignments and ListRulesReferencing", () => {
  test("return the assignments of objects, and the rules that reference an id", async () => {
    const call = newProject();
    const product = await services.products.createProduct({ sourceId: "shirt" }, call());
    const { id } = await rules.createValidationRule(
      {
        rules: ABOVE_100,
        applicableTo: { included: [{ object: "product", id: product.id }] },
      },
      call(),
    );
    const voucher = await createVoucher(services, call());
    await rules.createAssignment(
      { validationRuleId: id, relatedObjectType: "voucher", relatedObjectId: voucher.id },
      call(),
    );
    const query = { projectId: call().project.id, relatedObjectIds: [voucher.id, "v_none"] };
    expect(await rules.resolveAssignments({ queries: [query] }, call())).toMatchObject({
      results: [{ assignments: [{ ruleId: id, relatedObjectId: voucher.id }] }],
    });
    expect(await rules.listRulesReferencing({ id: product.id }, call())).toMatchObject({
      ruleIds: [id],
      total: 1n,
    });
  });
});
