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
});

describe("CreateAssignment", () => {
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
    const unknown = rules.listRuleAssignments({ validationRuleId: "val_unknown" }, call());
    await expect(unknown).rejects.toMatchObject({ key: "not_found" });
    expect((await rules.listAssignments({ limit: 2n }, call())).data).toHaveLength(2);
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
