import { expect, test } from "vitest";

import { inParallel, newCode, serverApi } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { sharedStack } from "../stack/stack.ts";

const stack = await sharedStack("standalone");
const api = await serverApi(stack);

const RETRYABLE = new Set(["service_unavailable", "too_many_requests", "idempotency_in_progress"]);

/** Repeats a request with its key until it has an outcome. */
async function settle(path: string, body: object) {
  const key = newCode("key");
  for (;;) {
    const response = await api.post(path, body, { "idempotency-key": key });
    if (!RETRYABLE.has(response.body["key"])) return response;
  }
}

test("concurrent adjustments and redemptions of a gift voucher are exact, and listed", async () => {
  const code = newCode("ADJUST");
  const path = `/v1/vouchers/${code}`;
  await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 2_000 } });
  const requests = Array.from({ length: 100 }, (_, index) =>
    index % 2 === 0
      ? { path: `${path}/balance`, body: { amount: index % 6 === 0 ? 40 : -110 } }
      : { path: `${path}/redemption`, body: { order: { amount: 5_000 }, gift: { credits: 35 } } },
  );

  const responses = await inParallel(requests, 100, async (request) => {
    const response = await settle(request.path, request.body);
    return { ...response, isAdjustment: request.path.endsWith("/balance") };
  });

  for (const { status, body, text } of responses) {
    if (status !== 200) expect(body["key"], text).toBe("gift_amount_exceeded");
  }
  const made = responses.filter(({ status }) => status === 200);
  const sumOf = (isAdjustment: boolean): number =>
    made
      .filter((response) => response.isAdjustment === isAdjustment)
      .reduce((sum, { body }) => sum + (body["amount"] as number), 0);
  const amount = 2_000 + sumOf(true);
  const { body: voucher } = await api.get(path);
  expect(voucher["gift"]).toMatchObject({ amount, balance: amount - sumOf(false) });
  const listed = new Set<string>();
  for (let after = ""; ;) {
    const { body } = await api.get(`${path}/transactions?limit=100&order=id${after}`);
    for (const { id, details } of body["data"]) {
      expect(listed.has(id)).toBe(false);
      listed.add(id);
      expect(details.balance.balance).toBeGreaterThanOrEqual(0);
    }
    if (body["has_more"] !== true) break;
    after = `&starting_after_id=${body["more_starting_after"]}`;
  }
  expect(listed.size).toBe(1 + made.length);
  expect(await invariantViolations(stack, stack.projectId)).toEqual([]);
}, 120_000);

test("rejects amounts that are missing, fractional or out of bounds, and other vouchers", async () => {
  const code = newCode("GIFT");
  await api.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 100 } });
  for (const [amount, key] of [
    [undefined, "invalid_payload"],
    [null, "invalid_payload"],
    [1.5, "invalid_payload"],
    [10_000_000_000_001, "invalid_payload"],
    [0, "invalid_amount"],
    [-101, "gift_amount_exceeded"],
  ] as const) {
    const { status, body } = await api.post(`/v1/vouchers/${code}/balance`, { amount });
    expect([status, body["key"]]).toEqual([400, key]);
  }
  const { body } = await api.get(`/v1/vouchers/${code}`);
  expect(body["gift"]).toMatchObject({ amount: 100, balance: 100 });
});
