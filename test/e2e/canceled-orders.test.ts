import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { untilFinished } from "../stack/uploads.ts";

const TIMEOUT = { timeout: 20_000 };

describe.each(COMPOSITIONS)("pending points of canceled orders (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  /** A member of a program whose orders earn 10 pending points and one that is active at once. */
  async function setUp(settings: Json) {
    const { id: projectId, api } = await newProject(stack, settings);
    const program = await createLoyaltyProgram(api, { points: 0 });
    const earn = (points: number, more: Json = {}) => ({
      event: "order.paid",
      loyalty: { type: "FIXED", points },
      ...more,
    });
    const later = { pending_points: { period_type: "DAY", period_value: 14 } };
    await ok(
      api.post(`/v1/loyalties/${program.campaignId}/earning-rules`, [earn(10, later), earn(1)]),
    );
    const member = await program.createCard();
    const pending = async (): Promise<number[]> =>
      (await ok(api.get(`/v1/loyalties/members/${member.code}/pending-points`)))["data"].map(
        ({ points }: Json) => points,
      );
    const order = (fields: Json): Json => ({
      source_id: newCode("order"),
      amount: 1_000,
      customer: member.customer,
      ...fields,
    });
    const points = async (): Promise<number> =>
      (await ok(api.get(`/v1/vouchers/${member.code}`)))["loyalty_card"].points;
    /** Pays an order and waits for its points. */
    const pay = async (): Promise<string> => {
      const before = await pending();
      const { source_id: id } = await ok(api.post("/v1/orders", order({ status: "PAID" })));
      await expect.poll(pending, TIMEOUT).toEqual([...before, 10]);
      return id;
    };
    return { projectId, api, customer: member.customer, pending, points, order, pay };
  }

  test("end with the order in projects with the setting, however it is canceled", async () => {
    const { api, customer, pending, points, order, pay } = await setUp({
      cancel_pending_points_on_order_cancel: true,
    });
    const put = (id: string, status: string) => ok(api.put(`/v1/orders/${id}`, { status }));

    const edited = await pay();
    await put(edited, "CANCELED");
    await expect.poll(pending, TIMEOUT).toEqual([]);
    await put(edited, "PAID");

    const reopened = await pay();
    await put(reopened, "CREATED");
    await put(reopened, "CANCELED");
    await expect.poll(pending, TIMEOUT).toEqual([]);

    // Canceled before the payment.
    const { source_id: early } = await ok(api.post("/v1/orders", order({ status: "FULFILLED" })));
    await put(early, "CANCELED");
    await put(early, "PAID");
    await expect.poll(pending, TIMEOUT).toEqual([10]);
    await put(early, "CANCELED");
    await expect.poll(pending, TIMEOUT).toEqual([]);

    const imported = await pay();
    const canceled = [{ source_id: imported, status: "CANCELED" }];
    await untilFinished(api, await api.post("/v1/orders/import", canceled));
    await expect.poll(pending, TIMEOUT).toEqual([]);

    const code = newCode("ten");
    const discount = { type: "PERCENT", percent_off: 10 };
    await ok(api.post("/v1/vouchers", { code, type: "DISCOUNT_VOUCHER", discount }));
    const redemption = await ok(
      api.post(`/v1/vouchers/${code}/redemption`, { customer, order: order({}) }),
    );
    await expect.poll(pending, TIMEOUT).toEqual([10]);
    await ok(api.post(`/v1/redemptions/${redemption["id"]}/rollback`));
    await expect.poll(pending, TIMEOUT).toEqual([]);

    expect(await points()).toBe(5);
  });

  test("stay without the setting, which an update resets", async () => {
    const { projectId, api, customer, pending, pay } = await setUp({
      cancel_pending_points_on_order_cancel: true,
    });
    const path = `/management/v1/projects/${projectId}`;
    const reset = { cancel_pending_points_on_order_cancel: null };
    expect(await ok(managementApi(stack).put(path, reset))).toMatchObject({
      cancel_pending_points_on_order_cancel: false,
    });
    const orders = async (): Promise<number> =>
      (await ok(api.get(`/v1/customers/${customer["source_id"]}`)))["summary"].orders.total_count;
    const canceled = await pay();
    await expect.poll(orders, TIMEOUT).toBe(1);
    await ok(api.put(`/v1/orders/${canceled}`, { status: "CANCELED" }));
    await expect.poll(orders, TIMEOUT).toBe(0);
    await pay();
    expect(await pending()).toEqual([10, 10]);
  });
});
