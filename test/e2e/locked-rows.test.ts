import { asAdmin } from "@scrip/testing";
import { describe, expect, test } from "vitest";

import { type ApiResponse, type Api, managementApi, newCode, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack, type SharedStack } from "../stack/stack.ts";

type LockedResource = {
  /** The table in which all rows of the project are locked. */
  readonly table: string;
  /** Creates a resource with a row in the table, and returns a request that changes it. */
  readonly prepare: (api: Api, stack: SharedStack) => Promise<() => Promise<ApiResponse>>;
};

const createVoucher = async (api: Api): Promise<string> => {
  const code = newCode("HELD");
  const discount = { type: "AMOUNT", amount_off: 10 };
  await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
  return code;
};

const LOCKED_RESOURCES: Readonly<Record<string, LockedResource>> = {
  "a project": {
    table: "gateway.project",
    prepare: async (_api, stack) => () =>
      managementApi(stack).put(`/management/v1/projects/${stack.projectId}`, {
        description: "changed",
      }),
  },
  "changing a voucher": {
    table: "voucher.voucher_usage",
    prepare: async (api) => {
      const code = await createVoucher(api);
      return () => api.post(`/v1/vouchers/${code}/disable`);
    },
  },
  "redeeming a voucher": {
    table: "voucher.voucher_usage",
    prepare: async (api) => {
      const code = await createVoucher(api);
      return () => api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1000 } });
    },
  },
  "a category": {
    table: "campaign.category",
    prepare: async (api) => {
      const category = { name: newCode("held"), hierarchy: 1 };
      const { id } = await ok(api.post("/v1/categories", category));
      return () => api.put(`/v1/categories/${id}`, { ...category, hierarchy: 2 });
    },
  },
  "a customer": {
    table: "loyalty.customer",
    prepare: async (api) => {
      const { id } = await ok(api.post("/v1/customers", { source_id: newCode("held") }));
      return () => api.put(`/v1/customers/${id}`, { name: "changed" });
    },
  },
  "a product": {
    table: "validation.product",
    prepare: async (api) => {
      const { id } = await ok(api.post("/v1/products", { name: "held" }));
      return () => api.put(`/v1/products/${id}`, { name: "changed" });
    },
  },
};

describe.each(COMPOSITIONS)("requests on locked rows (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test.each(Object.entries(LOCKED_RESOURCES))(
    "return 503 with Retry-After for %s",
    async (_name, { table, prepare }) => {
      const change = await prepare(api, stack);
      const rejected = await whileLocked(stack, table, change);
      expect([rejected.status, rejected.body["key"]]).toEqual([503, "service_unavailable"]);
      expect(rejected.headers.get("retry-after")).not.toBeNull();
      expect((await change()).status).toBe(200);
    },
  );
});

/** Locks all rows of the project in the table while `work` runs. */
const whileLocked = (
  { databaseUrl, projectId }: SharedStack,
  table: string,
  work: () => Promise<ApiResponse>,
): Promise<ApiResponse> =>
  asAdmin(databaseUrl, async (client) => {
    await client.query("begin");
    await client.query(`select 1 from ${table} where project_id = $1 for update`, [projectId]);
    const response = await work();
    await client.query("rollback");
    return response;
  });
