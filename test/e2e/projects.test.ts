import { describe, expect, test } from "vitest";

import {
  type Api,
  createApi,
  clientApi,
  type Json,
  managementApi,
  newCode,
  serverApi,
} from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("project management (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  test("creates a sandbox project whose clock is used for decisions", async () => {
    const { id, api } = await createProject({ sandbox: true, timezone: "Europe/Warsaw" });
    const code = newCode("CLOCK");
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100 },
      start_date: "2030-06-01T00:00:00Z",
      validity_day_of_week: [1],
    });
    const redeem = () => api.post(`/v1/vouchers/${code}/redemption`);
    expect((await redeem()).body["key"]).toBe("voucher_not_active");

    // A Sunday in UTC and a Monday in Warsaw.
    const clock = await management.put(`/management/v1/projects/${id}/clock`, {
      now: "2030-06-02T22:30:00.000Z",
    });
    expect([clock.status, clock.body["now"]]).toEqual([200, "2030-06-02T22:30:00.000Z"]);
    const redeemed = await redeem();
    expect([redeemed.status, redeemed.body["date"]]).toEqual([200, "2030-06-02T22:30:00.000Z"]);

    await management.put(`/management/v1/projects/${id}/clock`, { now: "2030-06-03T22:30:00Z" });
    expect((await redeem()).body["key"]).toBe("voucher_not_active_now");
    await management.put(`/management/v1/projects/${id}/clock`, { now: null });
    expect((await redeem()).body["key"]).toBe("voucher_not_active");
  });

  test("jobs run by the clock that was set before they were requested", async () => {
    const march = "2026-03-10T12:00:00.000Z";
    const { id, api } = await createProject({ sandbox: true });
    const setClock = (now: string | null) =>
      management.put(`/management/v1/projects/${id}/clock`, { now });
    const importOrder = async (sourceId: string): Promise<Json> => {
      const started = await api.post("/v1/orders/import", [{ source_id: sourceId, amount: 100 }]);
      const get = async (): Promise<Json> =>
        (await api.get(`/v1/async-actions/${started.body["async_action_id"]}`)).body;
      await expect.poll(async () => (await get())["status"]).toBe("DONE");
      return get();
    };

    // Stored by the replicas, in real time.
    await importOrder("before");
    await setClock(march);
    expect(await importOrder("march")).toMatchObject({ created_at: march, updated_at: march });
    expect((await api.get("/v1/orders/march")).body["created_at"]).toBe(march);
    await setClock("2026-03-11T12:00:00.000Z");
    expect((await importOrder("next"))["updated_at"]).toBe("2026-03-11T12:00:00.000Z");
    const filters = { created_at: { conditions: { $today: [] } } };
    const { body } = await api.post("/v1/exports", {
      exported_object: "order",
      parameters: { fields: ["source_id"], filters },
    });
    expect(await exportedLines(api, body["id"])).toEqual(["next"]);
    await setClock(null);
    await importOrder("after");
    const { created_at: createdAt } = (await api.get("/v1/orders/after")).body;
    expect(Math.abs(Date.now() - Date.parse(createdAt))).toBeLessThan(60_000);
  });

  test("rejects a clock change of a production project", async () => {
    const { id } = await createProject({});
    const response = await management.put(`/management/v1/projects/${id}/clock`, {
      now: "2030-06-01T00:00:00Z",
    });
    expect([response.status, response.body["key"]]).toEqual([403, "forbidden"]);
  });

  test("isolates projects: codes and tokens of one do not work in another", async () => {
    const [one, two] = [await createProject({}), await createProject({})];
    const code = newCode("SAME");
    const voucher = { code, type: "GIFT_VOUCHER", gift: { amount: 100 } };
    const first = await one.api.post("/v1/vouchers", voucher);
    expect((await two.api.get(`/v1/vouchers/${code}`)).status).toBe(404);
    expect((await two.api.get(`/v1/vouchers/${first.body["id"]}`)).status).toBe(404);
    expect((await two.api.post("/v1/vouchers", voucher)).status).toBe(200);

    const mixed = createApi(stack.url, {
      ...one.api.headers,
      authorization: two.api.headers["authorization"] ?? "",
    });
    const rejected = await mixed.get("/v1/vouchers");
    expect([rejected.status, rejected.body["key"]]).toEqual([401, "unauthorized"]);
  });

  test("supports case-insensitive codes and a default code configuration", async () => {
    const { api } = await createProject({
      case_sensitive_codes: false,
      default_code_config: { length: 6, charset: "AB", prefix: "P-" },
    });
    const created = await api.post("/v1/vouchers", { type: "GIFT_VOUCHER", gift: { amount: 100 } });
    expect(created.body["code"]).toMatch(/^P-[AB]{6}$/);
    const code = newCode("MiXed");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 100 } });
    expect((await api.get(`/v1/vouchers/${code.toUpperCase()}`)).body["code"]).toBe(code);
    const again = await api.post(`/v1/vouchers/${code.toLowerCase()}`, {
      type: "GIFT_VOUCHER",
      gift: { amount: 100 },
    });
    expect([again.status, again.body["key"]]).toEqual([409, "duplicate_found"]);

    const order = { amount: 100 };
    const redeemed = await api.post(`/v1/vouchers/${code.toUpperCase()}/redemption`, { order });
    expect(redeemed.status, redeemed.text).toBe(200);
    const lists = [
      ["/v1/vouchers", "code", "vouchers"],
      ["/v1/redemptions", "voucher_code", "redemptions"],
    ] as const;
    for (const [path, field, list] of lists) {
      const found = async (operator: string, value: string): Promise<Json[]> =>
        (await api.get(`${path}?filters[${field}][conditions][${operator}]=${value}`)).body[list];
      const expected = await found("$is", code);
      expect(expected).toHaveLength(1);
      expect(await found("$is", code.toLowerCase())).toEqual(expected);
      expect(await found("$in", code.toUpperCase())).toEqual(expected);
      expect(await found("$is_not", code.toLowerCase())).not.toContainEqual(expected[0]);
    }
    expect(await exportedCodes(api, code.toLowerCase())).toEqual([code]);

    const sensitive = await createProject({});
    await sensitive.api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 100 } });
    const other = await sensitive.api.get(
      `/v1/vouchers?filters[code][conditions][$is]=${code.toLowerCase()}`,
    );
    expect(other.body["vouchers"]).toEqual([]);
  });

  test("accepts client-side requests only from trusted origins", async () => {
    const code = newCode("CLIENT");
    const api = await serverApi(stack);
    await api.post("/v1/vouchers", {
      code,
      type: "DISCOUNT_VOUCHER",
      discount: { type: "AMOUNT", amount_off: 100 },
    });
    const request = { redeemables: [{ object: "voucher", id: code }], order: { amount: 500 } };
    const browser = await clientApi(stack, "https://shop.example");
    const response = await browser.post("/client/v1/validations", request);
    expect([response.status, response.body["valid"]]).toEqual([200, true]);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://shop.example");

    const { project, client } = await createProject({
      client_trusted_domains: ["https://a.example"],
    });
    expect(project["client_trusted_domains"]).toEqual(["https://a.example"]);
    const rejected = await client("https://b.example").post("/client/v1/validations", request);
    expect([rejected.status, rejected.body["key"]]).toEqual([403, "forbidden"]);
    const allowed = await client("https://a.example").post("/client/v1/validations", request);
    expect([allowed.status, allowed.body["valid"]]).toEqual([200, false]);
  });

  /** The codes that an export of vouchers finds by a code. */
  async function exportedCodes(api: Api, code: string): Promise<readonly string[]> {
    const parameters = { fields: ["code"], filters: { code: { conditions: { $is: code } } } };
    const { body } = await api.post("/v1/exports", { exported_object: "voucher", parameters });
    return exportedLines(api, body["id"]);
  }

  /** The rows of an export, without its header. */
  async function exportedLines(api: Api, id: string): Promise<readonly string[]> {
    const get = async (): Promise<Json> => (await api.get(`/v1/exports/${id}`)).body;
    await expect.poll(async () => (await get())["status"]).toBe("DONE");
    const { pathname, search } = new URL((await get())["result"].url, stack.url);
    const [, ...lines] = (await (await fetch(`${stack.url}${pathname}${search}`)).text())
      .trimEnd()
      .split("\n");
    return lines;
  }

  async function createProject(settings: Json) {
    const created = await management.post("/management/v1/projects", {
      name: newCode("Project"),
      ...settings,
    });
    expect(created.status, created.text).toBe(200);
    const { server_side_key: key, client_side_key: clientKey, ...project } = created.body;
    const api = await serverApi({
      ...stack,
      keys: { ...stack.keys, appId: key.app_id, appToken: key.app_token },
    });
    const clientStack = {
      ...stack,
      keys: { ...stack.keys, clientAppId: clientKey.app_id, clientToken: clientKey.app_token },
    };
    const template = await clientApi(clientStack, "https://a.example");
    return {
      id: project["id"] as string,
      project,
      api,
      client: (origin: string) => createApi(stack.url, { ...template.headers, origin }),
    };
  }
});
