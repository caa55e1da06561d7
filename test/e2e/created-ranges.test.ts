import { describe, expect, test } from "vitest";

import { newCode, newProject } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("lists by the time of creation (%s)", async (composition) => {
  const { api } = await newProject(await sharedStack(composition));

  test("list async actions, exports and entries of the bin that were created in a range", async () => {
    const product = await ok(api.post("/v1/products", { name: newCode("product") }));
    expect((await api.delete(`/v1/products/${product["id"]}`)).status).toBe(204);
    await ok(api.post("/v1/exports", { exported_object: "customer" }));
    await api.post("/v1/customers/bulk/async", [{ source_id: newCode("customer") }]);
    for (const [path, list] of [
      ["/v1/async-actions", "async_actions"],
      ["/v1/exports", "exports"],
      ["/v1/trash-bin", "data"],
    ] as const) {
      const count = async (range: string): Promise<number> =>
        (await ok(api.get(`${path}?${range}`)))[list].length;
      await expect.poll(() => count("created_at[after]=2020-01-01")).toBe(1);
      expect(await count("created_at[before]=2020-01-01")).toBe(0);
      expect(await count("created_at[after]=2999-01-01")).toBe(0);
      expect(await count("created_at[after]=2020-01-01&created_at[before]=2999-01-01")).toBe(1);
    }
  });
});
