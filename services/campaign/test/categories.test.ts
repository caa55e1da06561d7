import { instantToProto } from "@scrip/mapping";
import { afterAll, describe, expect, test } from "vitest";

import { newCall, newCoupons, NOON, rejectionKey } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { campaigns, categories } = service;

describe("CreateCategory", () => {
  test("creates a category, which GetCategory returns", async () => {
    const call = newCall();
    const created = await categories.createCategory({ name: "Spring", hierarchy: 2n }, call);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^cat_/),
      name: "Spring",
      hierarchy: 2n,
    });
    expect(await categories.getCategory({ categoryId: created.id }, call)).toEqual(created);
  });

  test("rejects a name that the project has, but not one of another project", async () => {
    const call = newCall();
    await categories.createCategory({ name: "Spring", hierarchy: 1n }, call);
    const again = categories.createCategory({ name: "Spring", hierarchy: 5n }, call);
    expect(await rejectionKey(again)).toBe("duplicate_found");
    await categories.createCategory({ name: "Spring", hierarchy: 1n }, newCall());
  });
});

describe("ListCategories", () => {
  test("returns categories newest first, with the time of the project's clock", async () => {
    const call = newCall();
    await categories.createCategory({ name: "Spring", hierarchy: 2n }, call);
    await categories.createCategory({ name: "Summer", hierarchy: 1n }, { ...call, now: NOON + 1 });
    const { data, total } = await categories.listCategories({}, call);
    expect(data.map(({ name }) => name)).toEqual(["Summer", "Spring"]);
    expect(total).toBe(2n);
    expect(data[1]?.createdAt?.seconds).toBe(BigInt(call.now / 1000));
  });
});

describe("ListCategories with a cursor", () => {
  test("continues behind a time, says whether more follow, and limits the time of creation", async () => {
    const call = newCall();
    for (const [index, name] of ["a", "b", "c"].entries()) {
      const at = { ...call, now: NOON + index * 1000 };
      await categories.createCategory({ name, hierarchy: 0n }, at);
    }
    const namesOf = (list: { readonly data: readonly { readonly name: string }[] }) =>
      list.data.map(({ name }) => name);
    const first = await categories.listCategories({ limit: 2n }, call);
    expect(namesOf(first)).toEqual(["c", "b"]);
    expect(first).toMatchObject({ total: 3n, hasMore: true });
    const startingAfter = first.data.at(-1)?.createdAt;
    const rest = await categories.listCategories({ limit: 2n, startingAfter }, call);
    expect(namesOf(rest)).toEqual(["a"]);
    expect(rest).toMatchObject({ total: 3n, hasMore: false });
    const createdAt = { after: instantToProto(NOON), before: instantToProto(NOON + 2000) };
    const inRange = await categories.listCategories({ createdAt }, call);
    expect(namesOf(inRange)).toEqual(["b"]);
    expect(inRange.total).toBe(1n);
  });

  test("returns categories of the same time exactly once over pages", async () => {
    const call = newCall();
    for (let i = 0; i < 5; i += 1) {
      await categories.createCategory({ name: `category ${i}`, hierarchy: 0n }, call);
    }
    const all = await categories.listCategories({}, call);
    expect(all.moreStartingAfter).toBeUndefined();
    const [first, second, third, fourth, fifth] = all.data;
    const one = await categories.listCategories({ limit: 2n }, call);
    expect(one.data).toEqual([first, second]);
    const two = await categories.listCategories(
      { limit: 2n, startingAfter: one.moreStartingAfter },
      call,
    );
    expect(two.data).toEqual([third, fourth]);
    const three = await categories.listCategories(
      { limit: 2n, startingAfter: two.moreStartingAfter },
      call,
    );
    expect(three).toMatchObject({ data: [fifth], hasMore: false });
    expect(three.moreStartingAfter).toBeUndefined();
  });
});

describe("GetCategory", () => {
  test("rejects an unknown category", async () => {
    const attempt = categories.getCategory({ categoryId: "cat_unknown" }, newCall());
    expect(await rejectionKey(attempt)).toBe("not_found");
  });
});

describe("UpdateCategory", () => {
  test("renames a category everywhere, and a repetition has the same result", async () => {
    const call = newCall();
    const { id: categoryId } = await categories.createCategory({ name: "a", hierarchy: 1n }, call);
    const { id: campaignId } = await newCoupons(service, call, { categoryId });
    const change = { categoryId, name: "b", hierarchy: 2n };
    const updated = await categories.updateCategory(change, call);
    expect(updated).toMatchObject({ id: categoryId, name: "b", hierarchy: 2n });
    expect(await categories.updateCategory(change, call)).toEqual(updated);
    expect((await campaigns.getCampaign({ campaignId }, call)).category).toBe("b");
  });

  test("rejects a name that another category has, and an unknown category", async () => {
    const call = newCall();
    await categories.createCategory({ name: "Spring", hierarchy: 1n }, call);
    const other = await categories.createCategory({ name: "Autumn", hierarchy: 1n }, call);
    const update = (categoryId: string) =>
      rejectionKey(categories.updateCategory({ categoryId, name: "Spring", hierarchy: 1n }, call));
    expect(await update(other.id)).toBe("duplicate_found");
    expect(await update("cat_unknown")).toBe("not_found");
  });
});

describe("DeleteCategory", () => {
  test("deletes a category, and a repetition is rejected", async () => {
    const call = newCall();
    const { id: categoryId } = await categories.createCategory({ name: "a", hierarchy: 1n }, call);
    const { id: campaignId } = await newCoupons(service, call, { categoryId });
    await categories.deleteCategory({ categoryId }, call);
    expect(await rejectionKey(categories.deleteCategory({ categoryId }, call))).toBe("not_found");
    const campaign = await campaigns.getCampaign({ campaignId }, call);
    expect([campaign.category, campaign.categoryId, campaign.categories]).toEqual([
      undefined,
      undefined,
      [],
    ]);
  });
});

describe("ResolveCategories", () => {
  test("returns categories by id and name in the order of the queries, and creates unknown names once", async () => {
    const call = newCall();
    const projectId = call.project.id;
    const known = await categories.createCategory({ name: "Known", hierarchy: 7n }, call);
    const queries = [
      { projectId, name: "New" },
      { projectId, id: known.id },
      { projectId, id: "cat_unknown" },
      { projectId, name: "Known" },
      { projectId, name: "New" },
    ];
    const { results } = await categories.resolveCategories({ queries }, call);
    const [created, ...others] = results.map(({ category }) => category);
    expect(created).toMatchObject({ name: "New", hierarchy: 8n });
    expect(others.map((category) => category?.id)).toEqual([
      known.id,
      undefined,
      known.id,
      created?.id,
    ]);
  });

  test("creates no category for an unknown name with existing_only", async () => {
    const call = newCall();
    const projectId = call.project.id;
    const query = { projectId, name: "Unknown", existingOnly: true };
    const lookUp = async () =>
      (await categories.resolveCategories({ queries: [query] }, call)).results[0]?.category;
    expect(await lookUp()).toBeUndefined();
    const { results } = await categories.resolveCategories(
      { queries: [{ projectId, name: "Unknown" }] },
      call,
    );
    expect(await lookUp()).toEqual(results[0]?.category);
  });

  test("creates one category for concurrent requests with the same name", async () => {
    const call = newCall();
    const queries = [{ projectId: call.project.id, name: "Race" }];
    const all = await Promise.all(
      Array.from({ length: 20 }, () => categories.resolveCategories({ queries }, call)),
    );
    expect(new Set(all.map(({ results }) => results[0]?.category?.id)).size).toBe(1);
  });
});
