import { describe, expect, test } from "vitest";

import { type ApiResponse, type Api, inParallel, newCode, serverApi } from "../stack/api.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

describe.each(COMPOSITIONS)("sessions (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const api = await serverApi(stack);

  test("lock for 7 days under a generated key by default", async () => {
    const code = await createVoucher(api, 1);
    const created = await lock(api, code, { type: "LOCK" });
    expect(created.body).toMatchObject({
      valid: true,
      session: {
        type: "LOCK",
        key: expect.stringMatching(/^ssn_[0-9a-f]{18}$/),
        ttl: 7,
        ttl_unit: "DAYS",
      },
    });
    expect((await lock(api, code)).body).toMatchObject({
      valid: false,
      redeemables: [{ result: { error: { key: "quantity_exceeded", details: code } } }],
    });
    expect((await lock(api, code)).body).not.toHaveProperty("session");

    const rejected = await api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 100 } });
    expect(rejected.body).toMatchObject({ key: "quantity_exceeded" });

    const session = { type: "LOCK", key: created.body["session"].key };
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, {
      order: { amount: 100 },
      session,
    });
    expect(redeemed.status, redeemed.text).toBe(200);
    expect(redeemed.body).toMatchObject({ session: { key: session.key } });
  });

  test.each(["DAYS", "HOURS", "MINUTES", "SECONDS"])("accept a ttl in %s", async (unit) => {
    const session = { type: "LOCK", key: newCode("key"), ttl: 3, ttl_unit: unit };
    const created = await lock(api, await createVoucher(api, 1), session);
    expect(created.body).toMatchObject({ valid: true, session });
  });

  test.each([
    ["MILLISECONDS", 1],
    ["MICROSECONDS", 1_000],
    ["NANOSECONDS", 1_000_000],
  ])("end with their ttl in %s", async (unit, ttl) => {
    const code = await createVoucher(api, 1);
    const session = { type: "LOCK", key: newCode("key"), ttl, ttl_unit: unit };
    expect((await lock(api, code, session)).body).toMatchObject({ valid: true, session });
    await expect.poll(() => isFree(api, code)).toBe(true);
  });

  test("are rejected with a ttl that is zero or too long", async () => {
    const code = await createVoucher(api, 1);
    const ages = await lock(api, code, { type: "LOCK", ttl: 4000, ttl_unit: "DAYS" });
    expect(ages.status).toBe(400);
    expect(ages.body).toMatchObject({ key: "invalid_payload" });
    expect((await lock(api, code, { type: "LOCK", ttl: 0 })).status).toBe(400);
    expect((await lock(api, code, { type: "OPEN" })).status).toBe(400);
  });

  test("replace the previous locks of their key", async () => {
    const [one, other] = [await createVoucher(api, 1), await createVoucher(api, 1)];
    const session = { type: "LOCK", key: newCode("key") };
    expect((await lock(api, one, session)).body).toMatchObject({ valid: true });
    expect((await lock(api, one, session)).body).toMatchObject({ valid: true });
    expect((await lock(api, other, session)).body).toMatchObject({ valid: true });
    expect(await isFree(api, one)).toBe(true);
    expect(await isFree(api, other)).toBe(false);
  });

  test("lock a voucher as often as its quantity allows, under concurrent requests", async () => {
    const code = await createVoucher(api, 4);
    const keys = Array.from({ length: 12 }, () => newCode("key"));
    const responses = await inParallel(keys, 12, (key) => lock(api, code, { type: "LOCK", key }));
    expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
    expect(responses.filter(({ body }) => body["valid"])).toHaveLength(4);
  });

  test("lock all vouchers of a validation or none", async () => {
    const [unlocked, locked] = [await createVoucher(api, 1), await createVoucher(api, 1)];
    await lock(api, locked, { type: "LOCK", key: newCode("key") });
    const both = await api.post("/v1/validations", {
      redeemables: [unlocked, locked].map((id) => ({ object: "voucher", id })),
      order: { amount: 1000 },
      session: { type: "LOCK", key: newCode("key") },
    });
    expect(both.body).toMatchObject({ valid: false });
    expect(both.body).not.toHaveProperty("session");
    expect(await isFree(api, unlocked)).toBe(true);
  });

  test("lock nothing for promotion tiers, and release the previous locks of their key", async () => {
    const campaign = await api.post("/v1/campaigns", {
      name: newCode("promotion"),
      campaign_type: "PROMOTION",
    });
    const tier = await api.post(`/v1/promotions/${campaign.body["id"]}/tiers`, {
      name: newCode("tier"),
      action: { discount: { type: "AMOUNT", amount_off: 100 } },
    });
    const code = await createVoucher(api, 1);
    const session = { type: "LOCK", key: newCode("key"), ttl: 1, ttl_unit: "HOURS" };
    await lock(api, code, session);
    const path = `/v1/promotions/tiers/${tier.body["id"]}/validation`;
    const held = await api.post(path, { order: { amount: 1000 }, session });
    expect(held.body).toMatchObject({ valid: true, session });
    expect(await isFree(api, code)).toBe(true);
  });

  test("lock credits of a gift card, and show other callers the number", async () => {
    const code = newCode("GIFT");
    await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 1000 } });
    const held = await api.post(`/v1/vouchers/${code}/validate`, {
      order: { amount: 700 },
      session: { type: "LOCK", key: newCode("key") },
    });
    expect(held.body).toMatchObject({ valid: true, gift: { balance: 1000, credits: 700 } });

    const rest = await api.post(`/v1/vouchers/${code}/validate`, { order: { amount: 700 } });
    expect(rest.body).toMatchObject({
      valid: true,
      gift: { balance: 1000, credits: 300, locked_credits: 700 },
    });
    const more = await api.post(`/v1/vouchers/${code}/validate`, {
      order: { amount: 700 },
      gift: { credits: 301 },
    });
    expect(more.body).toMatchObject({ valid: false, error: { key: "gift_amount_exceeded" } });
    const redeemed = await api.post(`/v1/vouchers/${code}/redemption`, {
      order: { amount: 700 },
      gift: { credits: 400 },
    });
    expect(redeemed.body).toMatchObject({ key: "gift_amount_exceeded" });
  });

  test("are released by DELETE /v1/vouchers/{code}/sessions/{key}", async () => {
    const code = await createVoucher(api, 1);
    const key = newCode("key");
    await lock(api, code, { type: "LOCK", key });
    expect((await api.delete(`/v1/vouchers/${code}/sessions/${key}`)).status).toBe(204);
    expect(await isFree(api, code)).toBe(true);
    const again = await api.delete(`/v1/vouchers/${code}/sessions/${key}`);
    expect(again.status).toBe(404);
    expect(again.body).toMatchObject({ key: "not_found", resource_type: "session" });
    const unknown = await api.delete(`/v1/vouchers/${newCode("NONE")}/sessions/${key}`);
    expect(unknown.body).toMatchObject({ key: "not_found", resource_type: "voucher" });
  });

  test("remain when a redemption with their key fails", async () => {
    const code = await createVoucher(api, 1);
    const session = { type: "LOCK", key: newCode("key") };
    await lock(api, code, session);
    await api.post(`/v1/vouchers/${code}/disable`);
    const failed = await api.post(`/v1/vouchers/${code}/redemption`, { session });
    expect(failed.body).toMatchObject({ key: "voucher_disabled" });
    await api.post(`/v1/vouchers/${code}/enable`);
    expect(await isFree(api, code)).toBe(false);
  });

  test("redeem once when many concurrent requests use their key", async () => {
    const code = await createVoucher(api, 1);
    const session = { type: "LOCK", key: newCode("key") };
    await lock(api, code, session);
    const requests = Array.from({ length: 12 }, (_, index) => index);
    const responses = await inParallel(requests, 12, () =>
      api.post(`/v1/vouchers/${code}/redemption`, { order: { amount: 100 }, session }),
    );
    const created = responses.filter(({ status }) => status === 200);
    const keys = new Set(responses.flatMap(({ body }) => (body["key"] as string) ?? []));
    expect(created).toHaveLength(1);
    expect([...keys].filter((key) => !CONFLICT_KEYS.has(key))).toEqual([]);
  });
});

const CONFLICT_KEYS: ReadonlySet<string> = new Set(["multiple_requests", "quantity_exceeded"]);

async function createVoucher(api: Api, quantity: number): Promise<string> {
  const code = newCode("LOCK");
  const created = await api.post("/v1/vouchers", {
    code,
    type: "DISCOUNT_VOUCHER",
    discount: { type: "AMOUNT", amount_off: 100 },
    redemption: { quantity },
  });
  expect(created.status, created.text).toBe(200);
  return code;
}

const lock = (api: Api, code: string, session?: unknown): Promise<ApiResponse> =>
  api.post("/v1/validations", {
    redeemables: [{ object: "voucher", id: code }],
    order: { amount: 1000 },
    ...(session !== undefined && { session }),
  });

/** Whether a request without a session can use the voucher now. */
const isFree = async (api: Api, code: string): Promise<boolean> =>
  (await lock(api, code)).body["valid"] as boolean;
