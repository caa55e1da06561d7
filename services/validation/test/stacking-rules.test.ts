import { afterAll, describe, expect, test } from "vitest";

import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { stackingRules, validations, categories } = services;

const LIMIT = { redeemablesLimit: 7n, updateMask: { paths: ["redeemables_limit"] } };

describe("CreateStackingRules", () => {
  test("stores the sent options, and returns defaults for the others", async () => {
    const call = newProject();
    const created = await stackingRules.createStackingRules(LIMIT, call());
    expect(created).toMatchObject({
      redeemablesLimit: 7n,
      redeemablesApplicationMode: "ALL",
      redeemablesSortingRule: "REQUESTED_ORDER",
    });
    expect(created.id).toMatch(/^stcr_/);
  });

  test("rejects a second set for the project with stacking_rules_exist", async () => {
    const call = newProject();
    await stackingRules.createStackingRules(LIMIT, call());
    expect(await rejectionKey(stackingRules.createStackingRules(LIMIT, call()))).toBe(
      "stacking_rules_exist",
    );
  });

  test("rejects options that contradict each other", async () => {
    const request = {
      redeemablesLimit: 2n,
      applicableRedeemablesLimit: 3n,
      updateMask: { paths: ["redeemables_limit", "applicable_redeemables_limit"] },
    };
    expect(await rejectionKey(stackingRules.createStackingRules(request, newProject()()))).toBe(
      "invalid_payload",
    );
  });

  test("rejects an unknown category with not_found", async () => {
    const request = {
      exclusiveCategories: ["cat_000000000000000000"],
      updateMask: { paths: ["exclusive_categories"] },
    };
    expect(await rejectionKey(stackingRules.createStackingRules(request, newProject()()))).toBe(
      "not_found",
    );
  });

  test("applies to the next validation", async () => {
    const call = newProject();
    await stackingRules.createStackingRules(
      { redeemablesLimit: 1n, updateMask: { paths: ["redeemables_limit"] } },
      call(),
    );
    const redeemables = ["A", "B"].map((id) => ({ object: "voucher", id }));
    expect(
      await rejectionKey(validations.validate({ redeemables, order: { amount: 1n } }, call())),
    ).toBe("invalid_payload");
  });
});

describe("GetStackingRules and ListStackingRules", () => {
  test("return the set of the project", async () => {
    const call = newProject();
    expect(await stackingRules.listStackingRules({}, call())).toMatchObject({
      data: [],
      total: 0n,
    });
    const { id } = await stackingRules.createStackingRules(LIMIT, call());
    expect(await stackingRules.getStackingRules({ stackingRulesId: id }, call())).toMatchObject({
      id,
      redeemablesLimit: 7n,
    });
    expect(await stackingRules.listStackingRules({}, call())).toMatchObject({
      data: [{ id }],
      total: 1n,
    });
  });

  test("reject the id of another project with not_found", async () => {
    const { id } = await stackingRules.createStackingRules(LIMIT, newProject()());
    expect(
      await rejectionKey(stackingRules.getStackingRules({ stackingRulesId: id }, newProject()())),
    ).toBe("not_found");
  });
});

describe("UpdateStackingRules", () => {
  test("changes sent options, keeps the others, and resets an option to its default by null", async () => {
    const call = newProject();
    const { id } = await stackingRules.createStackingRules(LIMIT, call());
    const updated = await stackingRules.updateStackingRules(
      {
        stackingRulesId: id,
        redeemablesApplicationMode: "PARTIAL",
        updateMask: { paths: ["redeemables_application_mode"] },
      },
      call(),
    );
    expect(updated).toMatchObject({ redeemablesLimit: 7n, redeemablesApplicationMode: "PARTIAL" });
    expect(updated.updatedAt).toBeDefined();
    const reset = await stackingRules.updateStackingRules(
      { stackingRulesId: id, updateMask: { paths: ["redeemables_limit"] } },
      call(),
    );
    expect(reset).toMatchObject({ redeemablesLimit: 30n, redeemablesApplicationMode: "PARTIAL" });
  });

  test("rejects an unknown id with not_found", async () => {
    const request = { ...LIMIT, stackingRulesId: "stcr_000000000000000000" };
    expect(await rejectionKey(stackingRules.updateStackingRules(request, newProject()()))).toBe(
      "not_found",
    );
  });

  test("accepts a stored category that was deleted since", async () => {
    const call = newProject();
    const category = await categories.createCategory({ name: "Exclusive" }, call());
    const { id } = await stackingRules.createStackingRules(
      { exclusiveCategories: [category.id], updateMask: { paths: ["exclusive_categories"] } },
      call(),
    );
    await categories.deleteCategory({ categoryId: category.id }, call());
    const updated = await stackingRules.updateStackingRules(
      { ...LIMIT, stackingRulesId: id },
      call(),
    );
    expect(updated.exclusiveCategories).toEqual([category.id]);
  });
});

describe("DeleteStackingRules", () => {
  test("returns the project to the defaults; a repetition is not_found", async () => {
    const call = newProject();
    const { id } = await stackingRules.createStackingRules(LIMIT, call());
    await stackingRules.deleteStackingRules({ stackingRulesId: id }, call());
    expect(await stackingRules.listStackingRules({}, call())).toMatchObject({ total: 0n });
    expect(
      await rejectionKey(stackingRules.deleteStackingRules({ stackingRulesId: id }, call())),
    ).toBe("not_found");
  });
});

describe("RevokeRules", () => {
  test("removes a deleted category from the stacking rules", async () => {
    const call = newProject();
    const category = await categories.createCategory({ name: "Exclusive" }, call());
    const { id } = await stackingRules.createStackingRules(
      { exclusiveCategories: [category.id], updateMask: { paths: ["exclusive_categories"] } },
      call(),
    );
    const items = [{ projectId: call().project.id, relatedObjectId: category.id }];
    await services.rules.revokeRules({ items }, call());
    const read = await stackingRules.getStackingRules({ stackingRulesId: id }, call());
    expect(read.exclusiveCategories).toEqual([]);
  });
});
