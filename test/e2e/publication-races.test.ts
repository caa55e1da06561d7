import { describe, expect, test } from "vitest";

import { type ApiResponse, inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok, ruleBuilders, voucherBody } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("concurrent publications (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);
  const { createVoucher, createCampaign } = ruleBuilders(api);

  /** Each test sends more requests than this, so that some begin when others have ended. */
  const WIDTH = 32;
  /** Sends one request per body, many concurrently. */
  const publishAll = (bodies: readonly Json[], query = ""): Promise<ApiResponse[]> =>
    inParallel(bodies, WIDTH, (body) => api.post(`/v1/publications${query}`, body));
  const customers = (count: number): string[] =>
    Array.from({ length: count }, () => newCode("racer"));
  const successesOf = (responses: readonly ApiResponse[]): Json[] =>
    responses.filter(({ status }) => status === 200).map(({ body }) => body);
  /** The distinct errors of the other responses. */
  const errorsOf = (responses: readonly ApiResponse[]): unknown[] => [
    ...new Set(
      responses
        .filter(({ status }) => status !== 200)
        .map(({ status, body }) => `${status} ${body["key"]}`),
    ),
  ];
  const codesOf = (publications: readonly Json[]): string[] =>
    publications.flatMap(({ voucher, vouchers }) => vouchers ?? [voucher.code]);

  test("a campaign assigns each code to one customer, and assigns all codes", async () => {
    const { name } = await createCampaign({ vouchers_count: 40 });
    const responses = await publishAll(
      customers(80).map((customer) => ({ customer, campaign: name })),
    );
    const published = successesOf(responses);
    expect(published).toHaveLength(40);
    expect(new Set(codesOf(published)).size).toBe(40);
    expect(errorsOf(responses)).toEqual(["400 no_voucher_suitable_for_publication"]);
    for (const { voucher, customer_id: customerId } of published) {
      expect(await ok(api.get(`/v1/vouchers/${voucher.code}`))).toMatchObject({
        holder_id: customerId,
        publish: { count: 1 },
      });
    }
  }, 120_000);

  test("a request for several codes gets all or none, and the remaining codes stay unassigned", async () => {
    const campaign = await createCampaign({ vouchers_count: 23 });
    const responses = await publishAll(
      customers(12).map((customer) => ({
        customer,
        campaign: { name: campaign["name"], count: 5 },
      })),
    );
    expect(successesOf(responses)).toHaveLength(4);
    expect(new Set(codesOf(successesOf(responses))).size).toBe(20);
    expect(errorsOf(responses)).toEqual(["400 no_voucher_suitable_for_publication"]);
    const free = `campaign_id=${campaign["id"]}&filters[holder_id][conditions][$is_unknown]=1`;
    expect((await ok(api.get(`/v1/vouchers?${free}`)))["total"]).toBe(3);
  });

  test("a voucher is assigned to exactly one of many customers", async () => {
    const { code } = await createVoucher();
    const responses = await publishAll(
      customers(60).map((customer) => ({ customer, voucher: code })),
    );
    expect(successesOf(responses)).toHaveLength(1);
    expect(errorsOf(responses)).toEqual(["400 voucher_already_published"]);
    expect(await ok(api.get(`/v1/vouchers/${code}`))).toMatchObject({
      holder_id: successesOf(responses)[0]?.["customer_id"],
      publish: { count: 1 },
    });
  });

  test("a customer of a join-once campaign gets one code from concurrent requests", async () => {
    const campaign = await createCampaign({ vouchers_count: 50, join_once: true });
    const customer = newCode("member");
    const responses = await publishAll(
      Array.from({ length: 60 }, () => ({ customer, campaign: campaign["name"] })),
    );
    expect(successesOf(responses)).toHaveLength(60);
    expect(new Set(codesOf(successesOf(responses))).size).toBe(1);
    expect(new Set(successesOf(responses).map(({ id }) => id)).size).toBe(1);
    const { total } = await ok(api.get(`/v1/customers/${customer}/redeemables`));
    expect(total).toBe(1);
  });

  test("a source id is published once when concurrent requests use it", async () => {
    const campaign = await createCampaign({ vouchers_count: 50 });
    const source = newCode("order");
    const responses = await publishAll(
      customers(50).map((customer) => ({
        customer,
        campaign: campaign["name"],
        source_id: source,
      })),
    );
    expect(successesOf(responses)).toHaveLength(1);
    expect(errorsOf(responses)).toEqual(["400 duplicate_source_id"]);
    const heldFilter = `campaign_id=${campaign["id"]}&filters[holder_id][conditions][$has_value]=1`;
    expect((await ok(api.get(`/v1/vouchers?${heldFilter}`)))["total"]).toBe(1);
  });

  test("an AUTO_UPDATE campaign creates missing vouchers and counts all of them", async () => {
    const campaign = await createCampaign({ type: "AUTO_UPDATE", vouchers_count: 10 });
    const responses = await publishAll(
      customers(60).map((customer) => ({ customer, campaign: campaign["name"] })),
    );
    expect(errorsOf(responses)).toEqual([]);
    expect(new Set(codesOf(successesOf(responses))).size).toBe(60);
    const existing = await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}&limit=1`));
    await expect
      .poll(async () => (await ok(api.get(`/v1/campaigns/${campaign["id"]}`)))["vouchers_count"], {
        timeout: 60_000,
      })
      .toBe(existing["total"]);
  });

  test("concurrent updates and redemptions of the same vouchers do not block publications", async () => {
    const campaign = await createCampaign({ vouchers_count: 60, voucher: voucherBody() });
    const { vouchers } = await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}&limit=100`));
    const names: string[] = vouchers.map(({ code }: Json) => code as string);
    const [responses, edits, uses] = await Promise.all([
      publishAll(customers(60).map((customer) => ({ customer, campaign: campaign["name"] }))),
      inParallel(names, 8, (code) => api.put(`/v1/vouchers/${code}`, { additional_info: "x" })),
      inParallel(names, 8, (code) =>
        api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 1000 } }),
      ),
    ]);
    expect(new Set(codesOf(successesOf(responses))).size).toBe(60);
    for (const each of [...edits, ...uses]) expect(each.status, each.text).toBe(200);
    const after = await ok(api.get(`/v1/vouchers?campaign_id=${campaign["id"]}&limit=100`));
    for (const voucher of after["vouchers"]) {
      expect(voucher).toMatchObject({
        holder_id: expect.any(String),
        additional_info: "x",
        publish: { count: 1 },
        redemption: { redeemed_quantity: 1 },
      });
    }
  }, 120_000);

  test("all invariants hold afterwards", async () => {
    expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
  }, 120_000);
});
