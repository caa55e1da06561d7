import { afterAll, describe, expect, inject, test, vi } from "vitest";

import {
  type Api,
  inParallel,
  type Json,
  managementApi,
  newCode,
  newProject,
} from "../stack/api.ts";
import { SERVICES, startComposition } from "../stack/compositions.ts";
import { tablesWithText } from "../stack/find-text.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { balanceOf, createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { createOwnDatabases } from "../stack/own-databases.ts";
import { postWithRetry } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { startWebhookReceiver } from "../stack/webhook-receiver.ts";

const POINTS = 5;
/** While processes are killed. */
const REDEMPTIONS = 20;

const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());
const databases = await createOwnDatabases(inject("postgresUrl"));
const stack = await startComposition("distributed", {
  database: {
    url: databases.urls.gateway,
    [Symbol.asyncDispose]: () => databases[Symbol.asyncDispose](),
  },
  env: { SCRIP_EVENTS_DATABASE_URL: databases.urls.events },
  envOf: (name) => ({ DATABASE_URL: databases.urls[name] }),
});
afterAll(() => stack[Symbol.asyncDispose]());

describe("services and an event log with databases of their own", async () => {
  const management = managementApi(stack);
  const { id: projectId, api } = await newProject(stack);
  const hook = newCode("hook");
  await ok(
    management.post(`/management/v1/projects/${projectId}/webhooks`, {
      target_url: receiver.urlOf(hook),
      events: ["redemption.succeeded", "customer.deleted"],
    }),
  );
  const program = await createLoyaltyProgram(api, { points: 0 });
  const rules = `/v1/loyalties/${program.campaignId}/earning-rules`;
  const rule = { event: "order.paid", loyalty: { type: "FIXED", points: POINTS }, source: {} };
  // Loyalty learns of the program by an event.
  await vi.waitFor(() => ok(api.post(rules, [rule])), { timeout: 60_000, interval: 100 });
  const mark = newCode("ada");
  const customer = { source_id: mark, name: `Ada ${mark}` };
  await ok(api.post("/v1/customers", customer, { "idempotency-key": mark }));
  const card = await program.createCard(customer);
  const campaign = await ok(
    api.post("/v1/campaigns", {
      name: newCode("campaign"),
      campaign_type: "DISCOUNT_COUPONS",
      voucher: {
        type: "DISCOUNT_VOUCHER",
        discount: { type: "AMOUNT", amount_off: 100 },
        redemption: { quantity: null },
      },
    }),
  );
  const { code } = await ok(api.post(`/v1/campaigns/${campaign["id"]}/vouchers`, {}));
  const purchase = (): Json => ({
    customer,
    order: {
      source_id: newCode("order"),
      amount: 1_000,
      status: "PAID",
      metadata: { note: mark },
    },
  });
  /** Distinct ones: a receiver may get a delivery twice. */
  const deliveries = (type: string): number => {
    const bodies = receiver.of(hook).map(({ body }) => JSON.parse(body));
    return new Set(bodies.filter((body) => body.type === type).map(({ id }) => id)).size;
  };

  test("events of a redemption earn points, add up in summaries and reach webhooks", async () => {
    await ok(api.post(`/v1/vouchers/${code}/redemption`, purchase()));
    await expect.poll(() => balanceOf(api, card)).toBe(POINTS);
    await expect
      .poll(async () => (await ok(api.get(`/v1/customers/${mark}`)))["summary"])
      .toMatchObject({
        redemptions: { total_redeemed: 1 },
        orders: { total_count: 1, total_amount: 1_000 },
      });
    await expect.poll(() => deliveries("redemption.succeeded")).toBe(1);
    const audited = () => ok(api.get("/v1/audit-log?limit=100&action=createCampaign"));
    await expect.poll(async () => (await audited())["data"]).toHaveLength(2);
  });

  test("lists and exports contain the rows of the service that stores them", async () => {
    const lists: readonly (readonly [string, string, string])[] = [
      ["/v1/vouchers", "vouchers", code],
      ["/v1/redemptions", "redemptions", code],
      ["/v1/orders", "orders", "PAID"],
      ["/v1/customers", "customers", mark],
      ["/v1/campaigns", "campaigns", campaign["name"]],
    ];
    for (const [path, property, text] of lists) {
      const listed = await ok(api.get(`${path}?limit=10`));
      expect(listed[property].length, path).toBeGreaterThan(0);
      expect(JSON.stringify(listed), path).toContain(text);
    }
    const exported: Readonly<Record<string, string>> = {
      voucher: code,
      redemption: code,
      order: "PAID",
      customer: mark,
    };
    for (const [object, text] of Object.entries(exported)) {
      expect(await exportOf(api, object), object).toContain(text);
    }
  });

  test("processes that are killed lose nothing", async () => {
    const before = await balanceOf(api, card);
    const redeemed = inParallel([...Array(REDEMPTIONS).keys()], 4, async () => {
      const path = `/v1/vouchers/${code}/redemption`;
      const { status, text } = await postWithRetry(api, path, purchase());
      expect(status, text).toBe(200);
    });
    await Promise.all([redeemed, ...[...SERVICES, undefined].map((name) => stack.crash(name))]);
    await expect.poll(() => balanceOf(api, card)).toBe(before + REDEMPTIONS * POINTS);
    await expect.poll(() => deliveries("redemption.succeeded")).toBe(1 + REDEMPTIONS);
  });

  test("a permanent deletion reaches each database", async () => {
    const tablesOfServices = async (): Promise<readonly string[]> => {
      const found = await Promise.all(
        [...SERVICES, "gateway" as const].map((name) =>
          tablesWithText(databases.urls[name], { projectId, text: mark }),
        ),
      );
      // Events are dropped with their partition of the outbox.
      return found.flat().filter((table) => !table.endsWith(".outbox"));
    };
    const owners = new Set((await tablesOfServices()).map((table) => table.split(".")[0]));
    // The search finds the copies; campaigns have no customers.
    expect(owners).toEqual(new Set(["export", "gateway", "loyalty", "validation", "voucher"]));
    const { id } = await ok(api.get(`/v1/customers/${mark}`));
    await ok(api.post(`/v1/customers/${id}/permanent-deletion`));
    await expect.poll(tablesOfServices).toEqual([]);
    await expect.poll(() => deliveries("customer.deleted")).toBe(1);
  });

  test("check-invariants compares the databases, and finds no violation", async () => {
    expect(await invariantViolations(stack, projectId, databases.env)).toEqual([]);
  });
});

async function exportOf(api: Api, object: string): Promise<string> {
  const { id } = await ok(api.post("/v1/exports", { exported_object: object }));
  const get = () => ok(api.get(`/v1/exports/${id}`));
  await expect.poll(async () => (await get())["status"]).toBe("DONE");
  const { pathname, search } = new URL((await get())["result"].url, stack.url);
  return (await fetch(stack.url + pathname + search)).text();
}
