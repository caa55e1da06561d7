import { describe, expect, test } from "vitest";

import { type Api, type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

/** The time of the project, far from midnight. */
const NOW = "2030-06-15T12:00:00.000Z";

describe.each(COMPOSITIONS)("filters on metadata (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  test("read booleans and dates alike in lists, segments and exports", async () => {
    const { id, api } = await newProject(stack, { sandbox: true });
    await ok(managementApi(stack).put(`/management/v1/projects/${id}/clock`, { now: NOW }));
    const metadata: Readonly<Record<string, Json>> = {
      TODAY: { on: true, at: NOW },
      OLD: { on: false, at: "2030-06-05" },
      NONE: { on: "TRUE", at: "soon" },
    };
    for (const [code, one] of Object.entries(metadata)) {
      const gift = { type: "GIFT_VOUCHER", gift: { amount: 100 } };
      await ok(api.post("/v1/vouchers", { code, ...gift, metadata: one }));
      await ok(api.post("/v1/customers", { source_id: code, metadata: one }));
    }
    const cases: readonly (readonly [key: string, conditions: Json, expected: string[]])[] = [
      ["on", { $is: "TRUE" }, ["NONE", "TODAY"]],
      ["on", { $in: ["False"] }, ["OLD"]],
      ["on", { $is_not: "TRUE" }, ["OLD"]],
      ["at", { $today: "" }, ["TODAY"]],
      ["at", { $is_days_ago: 10 }, ["OLD"]],
      ["at", { $more_than: 5 }, ["OLD"]],
      ["at", { $less_than: 5 }, ["TODAY"]],
    ];
    for (const [key, conditions, expected] of cases) {
      const filters = { [`metadata.${key}`]: { conditions } };
      const found = [
        await listed(api, key, conditions),
        await inSegment(api, filters, Object.keys(metadata)),
      ];
      expect(found, JSON.stringify(filters)).toEqual([expected, expected]);
    }
    const both = {
      "metadata.on": { conditions: { $is: "TRUE" } },
      "metadata.at": { conditions: { $this_month: "" } },
    };
    expect(await exported(stack.url, api, both)).toEqual(["TODAY"]);
  });
});

async function listed(api: Api, key: string, conditions: Json): Promise<readonly string[]> {
  const [operator, operand] = Object.entries(conditions)[0] ?? [];
  const query = `filters[metadata.${key}][conditions][${operator}]=${operand}`;
  const { vouchers } = await ok(api.get(`/v1/vouchers?${query}`));
  return vouchers.map(({ code }: Json) => code).toSorted();
}

async function inSegment(
  api: Api,
  filter: Json,
  customers: readonly string[],
): Promise<readonly string[]> {
  const segment = await ok(
    api.post("/v1/segments", { name: newCode("segment"), type: "passive", filter }),
  );
  const members: string[] = [];
  for (const customer of customers) {
    const { data } = await ok(api.get(`/v1/customers/${customer}/segments`));
    if (data.some(({ id }: Json) => id === segment["id"])) members.push(customer);
  }
  return members.toSorted();
}

async function exported(url: string, api: Api, filters: Json): Promise<readonly string[]> {
  const parameters = { fields: ["code"], filters };
  const { id } = await ok(api.post("/v1/exports", { exported_object: "voucher", parameters }));
  const get = async (): Promise<Json> => ok(api.get(`/v1/exports/${id}`));
  await expect.poll(async () => (await get())["status"]).toBe("DONE");
  const { pathname, search } = new URL((await get())["result"].url, url);
  const text = await (await fetch(`${url}${pathname}${search}`)).text();
  return text.trimEnd().split("\n").slice(1).toSorted();
}
