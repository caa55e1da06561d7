import { type Origin, originOf } from "@scrip/events";
import { OrderStatus } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { createGiftCard, newCode, voucherRef } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { validations, orders } = services;

const caller = { side: "server", id: "app_1", name: "POS" } as const;
const TYPES = ["RedemptionMade", "RedemptionFailed", "RedemptionRolledBack", "OrderPaid"];

type Sent = Readonly<Record<"redeemed" | "rejected" | "rolledBack" | "paid", string>>;

/** Redeems, fails to, rolls back and pays an order; returns the ids of the requests. */
async function sendRequests(call: (overrides?: Partial<Call>) => Call): Promise<Sent> {
  const [redeemed, rejected, rolledBack, paid] = [call(), call(), call(), call()];
  const { code } = await createGiftCard(services, call(), 2_000n);
  const order = { amount: 1_000n, status: OrderStatus.PAID };
  const customer = { sourceId: newCode("c") };
  const redemption = await validations.redeemVoucher({ code, order, customer }, redeemed);
  const all = { ...voucherRef(code), gift: { credits: 1_900n } };
  const failing = validations.redeem({ redeemables: [all], order, customer }, rejected);
  expect(await rejectionKey(failing)).toBe("gift_amount_exceeded");
  await validations.rollbackRedemption({ redemptionId: redemption.id }, rolledBack);
  await orders.createOrder({ ...order, sourceId: newCode("order"), customer }, paid);
  return {
    redeemed: redeemed.requestId,
    rejected: rejected.requestId,
    rolledBack: rolledBack.requestId,
    paid: paid.requestId,
  };
}

async function originsOf(projectId: string): Promise<readonly (readonly [string, unknown])[]> {
  const { rows } = await asAdmin(services.databaseUrl, (client) =>
    client.query<{ type: string; headers: Record<string, string> | null }>(
      `select type, headers from voucher.outbox where project_id = $1
        union all
       select type, headers from validation.outbox where project_id = $1`,
      [projectId],
    ),
  );
  return rows.flatMap(({ type, headers }) => {
    const name = type.split(".").at(-1) ?? "";
    return TYPES.includes(name) ? [[name, headers && originOf({ headers })] as const] : [];
  });
}

describe("events of redemptions, rollbacks and paid orders", () => {
  test("have no headers in a project without webhooks and earning rules", async () => {
    const call = newProject();
    await sendRequests((overrides) => call({ caller, ...overrides }));
    const origins = await originsOf(call().project.id);
    expect(origins.map(([type]) => type).toSorted()).toEqual([...TYPES, "OrderPaid"].toSorted());
    for (const [, origin] of origins) expect(origin).toBeNull();
  });

  test("are only published for failures without a customer if the project has webhooks", async () => {
    const countOf = async (settings: object): Promise<number> => {
      const call = newProject();
      const project = { ...call().project, ...settings };
      const { code } = await createGiftCard(services, call({ project, caller }), 100n);
      const failing = validations.redeem(
        {
          redeemables: [{ ...voucherRef(code), gift: { credits: 900n } }],
          order: { amount: 900n },
        },
        call({ project, caller }),
      );
      expect(await rejectionKey(failing)).toBe("gift_amount_exceeded");
      return (await originsOf(project.id)).length;
    };
    expect(await countOf({})).toBe(0);
    expect(await countOf({ hasEarningRules: true })).toBe(0);
    expect(await countOf({ webhookEvents: ["redemption.failed"] })).toBe(1);
  });

  test.each([
    ["webhooks", { webhookEvents: ["redemption.succeeded"] }],
    ["earning rules", { hasEarningRules: true }],
  ])("carry the request, its caller and the project's version with %s", async (_name, settings) => {
    const call = newProject();
    const project = { ...call().project, ...settings, version: 7n };
    const sent = await sendRequests((overrides) => call({ project, caller, ...overrides }));
    const origin = (requestId: string): Origin => ({ requestId, caller, project: { version: 7n } });
    const origins = await originsOf(project.id);
    const expected = [
      ["RedemptionMade", origin(sent.redeemed)],
      ["OrderPaid", origin(sent.redeemed)],
      ["RedemptionFailed", origin(sent.rejected)],
      ["RedemptionRolledBack", origin(sent.rolledBack)],
      ["OrderPaid", origin(sent.paid)],
    ];
    expect(origins).toHaveLength(expected.length);
    expect(origins).toEqual(expect.arrayContaining(expected));
  });
});
