import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { afterAll, describe, expect, test, vi } from "vitest";

import {
  type ApiResponse,
  clientApi,
  type Json,
  managementApi,
  newCode,
  newProject,
  serverApi,
} from "../stack/api.ts";
import { grpcCaller } from "../stack/grpc.ts";
import { createLoyaltyProgram } from "../stack/loyalty-program.ts";
import { ok, ruleBuilders } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { startWebhookReceiver } from "../stack/webhook-receiver.ts";

const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

const NAME = 'Łódź: "shop", 100 %';

describe.each(COMPOSITIONS)("events say which request caused them (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);
  const project = await newProject(stack, {
    sandbox: true,
    client_trusted_domains: ["*"],
    client_redeem_enabled: true,
  });
  const path = `/management/v1/projects/${project.id}`;
  const newKey = (kind: string, name: string): Promise<Json> =>
    ok(management.post(`${path}/api-keys`, { kind, name }));
  const { app_id: appId, app_token: appToken } = await newKey("server", NAME);
  const api = await serverApi({ ...stack, keys: { ...stack.keys, appId, appToken } });
  const { createVoucher, createCampaign } = ruleBuilders(api);
  const fromKey = { channel: "API", user: null, api_key: { name: NAME, app_id: appId } };

  const createHook = (name: string, events: readonly string[]): Promise<Json> =>
    ok(management.post(`${path}/webhooks`, { target_url: receiver.urlOf(name), events }));
  const requestIdOf = async (sent: Promise<ApiResponse>): Promise<string> => {
    const { status, headers, text } = await sent;
    expect(status, text).toBe(200);
    return headers.get("x-request-id") ?? "";
  };
  const bodiesOf = (name: string, count: number): Promise<Json[]> =>
    vi.waitFor(
      () => {
        const received = receiver.of(name);
        expect(received).toHaveLength(count);
        return received.map(({ body }) => JSON.parse(body) as Json);
      },
      { timeout: 60_000, interval: 100 },
    );
  const expectGroups = (bodies: readonly Json[], groups: readonly (readonly string[])[]) => {
    const pairs = bodies.map(({ type, event }) => [type, event.group_id].join(" "));
    expect(pairs.toSorted()).toEqual(groups.map((pair) => pair.join(" ")).toSorted());
  };
  const payOrder = (customer: Json, caller = api): Promise<string> =>
    requestIdOf(
      caller.post("/v1/orders", {
        source_id: newCode("order"),
        status: "PAID",
        amount: 1_000,
        customer,
      }),
    );
  const earnByOrders = (campaignId: string, more: Json = {}, caller = api): Promise<ApiResponse> =>
    caller.post(`/v1/loyalties/${campaignId}/earning-rules`, [
      {
        event: "order.paid",
        loyalty: {
          type: "PROPORTIONAL",
          calculation_type: "ORDER_AMOUNT",
          order: { amount: { every: 100, points: 1 } },
        },
        ...more,
      },
    ]);

  test("with its id and the API key, also what services do because of it", async () => {
    const program = await createLoyaltyProgram(api);
    expect((await earnByOrders(program.campaignId)).status).toBe(200);
    const member = await program.createCard();
    const { code } = await createVoucher({
      type: "GIFT_VOUCHER",
      discount: undefined,
      gift: { amount: 10_000 },
    });
    const { id: campaignId } = await createCampaign();
    const customer = await ok(api.post("/v1/customers", { source_id: newCode("c") }));
    const name = newCode("groups");
    await createHook(name, [
      "redemption.succeeded",
      "redemption.rollback.succeeded",
      "customer.order.paid",
      "voucher.loyalty_card.points_added",
      "voucher.published",
      "voucher.gift.balance_added",
      "campaign.updated",
      "campaign.disabled",
      "customer.updated",
    ]);

    const buyer = { customer: member.customer, order: { amount: 1_000, status: "PAID" } };
    const publication = { customer: { id: customer["id"] }, voucher: code };
    const published = await requestIdOf(api.post("/v1/publications", publication));
    const adjusted = await requestIdOf(api.post(`/v1/vouchers/${code}/balance`, { amount: 500 }));
    const redeeming = api.post(`/v1/vouchers/${code}/redemption`, buyer);
    const [redeemed, { id }] = [await requestIdOf(redeeming), await ok(redeeming)];
    const rolledBack = await requestIdOf(api.post(`/v1/redemptions/${id}/rollback`));
    const paid = await payOrder(member.customer);
    const updated = await requestIdOf(api.put(`/v1/customers/${customer["id"]}`, { name: "Ann" }));
    const changed = await requestIdOf(
      api.put(`/v1/campaigns/${campaignId}`, { description: "Summer" }),
    );
    const disabled = await requestIdOf(api.post(`/v1/campaigns/${campaignId}/disable`));

    const groups = [
      ["voucher.published", published],
      ["voucher.gift.balance_added", adjusted],
      ["redemption.succeeded", redeemed],
      ["customer.order.paid", redeemed],
      ["voucher.loyalty_card.points_added", redeemed],
      ["redemption.rollback.succeeded", rolledBack],
      ["customer.order.paid", paid],
      ["voucher.loyalty_card.points_added", paid],
      ["customer.updated", updated],
      ["campaign.updated", changed],
      ["campaign.disabled", disabled],
    ];
    const bodies = await bodiesOf(name, groups.length);
    expectGroups(bodies, groups);
    for (const { event } of bodies) expect(event.event_source).toEqual(fromKey);
  });

  test("with the channel of client-side callers", async () => {
    const { app_id: clientAppId, app_token: clientToken } = await newKey("client", "Web");
    const keys = { ...stack.keys, clientAppId, clientToken };
    const client = await clientApi({ ...stack, keys }, "https://shop.example");
    const { code } = await createVoucher();
    const name = newCode("client");
    await createHook(name, ["redemption.succeeded", "customer.created"]);
    const redeemed = await requestIdOf(
      client.post("/client/v1/redemptions", {
        redeemables: [{ object: "voucher", id: code }],
        customer: { source_id: newCode("visitor") },
        order: { amount: 1_000 },
      }),
    );
    const bodies = await bodiesOf(name, 2);
    expectGroups(bodies, [
      ["redemption.succeeded", redeemed],
      ["customer.created", redeemed],
    ]);
    for (const { event } of bodies) {
      expect(event.event_source).toEqual({
        channel: "CLIENT_API",
        user: null,
        api_key: { name: "Web", app_id: clientAppId },
      });
    }
  });

  test("with the internal channel for what jobs do, and pending points with the request that earned them", async () => {
    const program = await createLoyaltyProgram(api);
    const pending = { pending_points: { period_type: "DAY", period_value: 7 } };
    expect((await earnByOrders(program.campaignId, pending)).status).toBe(200);
    const member = await program.createCard();
    const name = newCode("pending");
    const changes = ["added", "activated"];
    await createHook(
      name,
      changes.map((change) => `voucher.loyalty_card.pending_points.${change}`),
    );
    const paid = await payOrder(member.customer);
    const [added] = await bodiesOf(name, 1);
    expect(added?.["event"]).toMatchObject({ group_id: paid, event_source: fromKey });
    const points = await ok(
      api.get(`/v1/loyalties/${program.campaignId}/members/${member.code}/pending-points`),
    );
    expect(points["data"][0].details.event).toMatchObject({
      group_id: paid,
      event_source: { channel: "API", api_key: { name: NAME, app_id: appId } },
    });

    const later = new Date(Date.now() + 8 * 86_400_000).toISOString();
    await ok(management.put(`${path}/clock`, { now: later }));
    const [, activated] = await bodiesOf(name, 2);
    expect(activated?.["event"]).toMatchObject({
      group_id: activated?.["event"].id,
      event_source: { channel: "INTERNAL", user: null, api_key: null },
    });
  });

  test("with the API key on pending points in a project without webhooks", async () => {
    const { api: other } = await newProject(stack);
    const program = await createLoyaltyProgram(other);
    const later = { pending_points: { period_type: "DAY", period_value: 7 } };
    expect((await earnByOrders(program.campaignId, later, other)).status).toBe(200);
    const member = await program.createCard();
    const { code } = await ruleBuilders(other).createVoucher();
    const buyer = { customer: member.customer, order: { amount: 1_000 } };
    const redeemed = await requestIdOf(other.post(`/v1/vouchers/${code}/redemption`, buyer));
    const paid = await payOrder(member.customer, other);
    const pending = `/v1/loyalties/${program.campaignId}/members/${member.code}/pending-points?order=id`;
    const causes = async () =>
      (await ok(other.get(pending)))["data"].map(({ details }: Json) => details.event);
    await expect.poll(causes, { timeout: 20_000 }).toHaveLength(2);
    const key = { name: expect.any(String), app_id: other.headers["x-app-id"] };
    const source = { channel: "API", api_key: key };
    expect(await causes()).toMatchObject([
      { group_id: redeemed, event_source: source },
      { group_id: paid, event_source: source },
    ]);
  });

  test("with the API key on pending points of rules that were created over gRPC", async () => {
    const { id, api: other } = await newProject(stack);
    const program = await createLoyaltyProgram(other);
    const call = grpcCaller(stack, { projects: [id] });
    const rule = {
      event: "order.paid",
      loyalty: { type: "FIXED", points: 1n },
      pendingPoints: { periodType: "DAY", periodValue: 7n },
    };
    await call(
      EarningRuleService.method.createEarningRules,
      { campaignId: program.campaignId, rules: [rule] },
      { "x-scrip-project": id },
    );
    const member = await program.createCard();
    const pending = `/v1/loyalties/${program.campaignId}/members/${member.code}/pending-points`;
    const keysOfCauses = async () => {
      await payOrder(member.customer, other);
      const { data } = await ok(other.get(pending));
      return data.map(({ details }: Json) => details.event.event_source.api_key?.app_id);
    };
    await expect
      .poll(keysOfCauses, { timeout: 20_000, interval: 500 })
      .toContain(other.headers["x-app-id"]);
  });

  test("with the request that started a job", async () => {
    const name = newCode("job");
    await createHook(name, [
      "campaign.vouchers.generation.started",
      "campaign.vouchers.generation.completed",
    ]);
    const created = await requestIdOf(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        vouchers_count: 3_000,
        voucher: { discount: { type: "AMOUNT", amount_off: 100 } },
      }),
    );
    const bodies = await bodiesOf(name, 2);
    const sourceOf = (change: string) =>
      bodies.find(({ type }) => type.endsWith(change))?.["event"];
    expect(sourceOf("started")).toMatchObject({ group_id: created, event_source: fromKey });
    expect(sourceOf("completed")).toMatchObject({
      group_id: created,
      event_source: { channel: "INTERNAL", api_key: null },
    });
  });
});
