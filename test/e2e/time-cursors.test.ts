import { describe, expect, test } from "vitest";

import { type Json, newCode, newProject } from "../stack/api.ts";
import { referralBuilders } from "../stack/referral-builders.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("cursors by time (%s)", async (composition) => {
  const { api } = await newProject(await sharedStack(composition));

  /** The items of all pages, and the cursor of each page but the last. */
  async function readAll(path: string, list: string) {
    const items: Json[] = [];
    const cursors: string[] = [];
    for (let query = path; ;) {
      const page = await ok(api.get(query));
      items.push(...page[list]);
      expect("more_starting_after" in page).toBe(page["has_more"]);
      if (!page["has_more"]) return { items, cursors };
      cursors.push(page["more_starting_after"]);
      query = `${path}&starting_after=${page["more_starting_after"]}`;
    }
  }

  test("return customers with the same created_at exactly once", async () => {
    const { path } = await referralBuilders(api).publishedCode();
    const sources = Array.from({ length: 25 }, (_, index) => newCode(`friend${index}`));
    await ok(api.post(path, { holders: sources }));
    const city = newCode("city");
    for (const source of sources) {
      await ok(api.put(`/v1/customers/${source}`, { address: { city } }));
    }
    for (const order of ["created_at", "-created_at", "updated_at", "-updated_at"]) {
      const query = `/v1/customers?city=${city}&order=${order}`;
      const all = (await ok(api.get(`${query}&limit=100`)))["customers"];
      const { items, cursors } = await readAll(`${query}&limit=7`, "customers");
      expect(items, order).toEqual(all);
      expect(items).toHaveLength(25);
      expect(new Set(items.map((customer) => customer["source_id"]))).toEqual(new Set(sources));
      expect(cursors).toHaveLength(3);
      if (!order.endsWith("created_at")) continue;
      const [time] = new Set(items.map((customer) => customer["created_at"] as string));
      expect(time).toMatch(/\.\d{3}Z$/);
      expect(cursors).toEqual(
        ["000007", "000014", "000021"].map((count) => time?.replace("Z", `${count}Z`)),
      );
      const exclusive = await ok(api.get(`${query}&starting_after=${time}`));
      expect(exclusive).toMatchObject({ customers: [], total: 25, has_more: false });
    }
  });

  test("return promotion tiers that were created with their campaign exactly once", async () => {
    const discount = { type: "AMOUNT", amount_off: 100 };
    const tiers = ["a", "b", "c"].map((name) => ({ name, action: { discount } }));
    const campaign = { name: newCode("Spring"), campaign_type: "PROMOTION", promotion: { tiers } };
    const { id } = await ok(api.post("/v1/campaigns", campaign));
    for (const path of ["/v1/promotions/tiers", `/v1/promotions/${id}/tiers`]) {
      for (const order of ["created_at", "-created_at"]) {
        const all = await ok(api.get(`${path}?order=${order}`));
        const { items } = await readAll(`${path}?order=${order}&limit=1`, "tiers");
        expect(items, `${path} by ${order}`).toEqual(all["tiers"]);
        expect(items).toHaveLength(3);
        expect(new Set(items.map(({ name }) => name))).toEqual(new Set(["a", "b", "c"]));
      }
    }
  });

  test("return each product of a collection once", async () => {
    const names = ["a", "b", "c"].map((name) => newCode(name));
    const products: Json[] = [];
    for (const name of names) products.push(await ok(api.post("/v1/products", { name })));
    const ids = products.map(({ id }) => id as string);
    const collection = {
      name: newCode("all"),
      type: "STATIC",
      products: ids.map((id) => ({ object: "product", id })),
    };
    const { id } = await ok(api.post("/v1/product-collections", collection));
    const path = `/v1/product-collections/${id}/products`;
    for (const [order, expected] of [
      ["created_at", ids],
      ["-created_at", ids.toReversed()],
    ] as const) {
      const { items } = await readAll(`${path}?order=${order}&limit=1`, "data");
      expect(items.map((item) => item["id"])).toEqual(expected);
    }
    const last = await ok(api.get(`${path}?starting_after=${products[0]?.["created_at"]}`));
    expect(last).toMatchObject({ data: [], total: 3, has_more: false });
  });

  test("return each category once", async () => {
    const names = ["a", "b", "c"].map((name) => newCode(name));
    for (const name of names) await ok(api.post("/v1/categories", { name, hierarchy: 1 }));
    const { items } = await readAll("/v1/categories?limit=1", "data");
    expect(items.map(({ name }) => name)).toEqual(names.toReversed());
  });
});
