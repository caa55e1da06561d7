import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type ApiResponse, inParallel, type Json, newCode } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { retryUnavailable } from "../stack/retry.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { createStressProject, type StressProject } from "../stack/stress-project.ts";

/** Every run sends the same requests; STRESS_SEED=$RANDOM sends others. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261_121);
const CLIENTS = 64;
const REQUESTS = 400;
/** Generous: an idle machine needs less than a minute. */
const TIMEOUT_MS = 240_000;

type Wish = {
  readonly picks: readonly number[];
  readonly amount: number;
  readonly customer: number;
  /** The request is sent twice concurrently with one idempotency key. */
  readonly twice: boolean;
  /** Rolled back immediately by two concurrent requests. */
  readonly back: boolean;
};

const positions = Array.from({ length: 40 }, (_, position) => position);
const pick = (maxLength: number) => fc.shuffledSubarray(positions, { minLength: 1, maxLength });
const wish: fc.Arbitrary<Wish> = fc.record({
  picks: fc.oneof({ weight: 2, arbitrary: pick(5) }, { weight: 1, arbitrary: pick(30) }),
  amount: fc.integer({ min: 1_000, max: 20_000 }),
  customer: fc.nat({ max: 4 }),
  twice: fc.boolean(),
  back: fc.boolean(),
});

/** Error keys of requests that lose a race. */
const LOSSES: ReadonlySet<string> = new Set([
  "quantity_exceeded",
  "gift_amount_exceeded",
  "redemption_rules_violated",
  "no_applicable_redeemables",
]);

describe.each(COMPOSITIONS)("64 clients that redeem random stacks (%s)", async (composition) => {
  const stack = await sharedStack(composition);

  test.each(["ALL", "PARTIAL"] as const)(
    "redeem consistent stacks in mode %s",
    async (mode) => {
      const shop = await createStressProject(stack, mode);
      const customers = Array.from({ length: 5 }, () => newCode("buyer"));
      const wishes = fc.sample(wish, { seed: SEED, numRuns: REQUESTS });

      const outcomes = await inParallel(wishes, CLIENTS, async ({ twice, back, ...one }) => {
        const customer = customers[one.customer]!;
        const answer = await redeem(shop, one, { customer, twice });
        if (answer.status !== 200) return { answer, customer, parts: [] };
        const parts = partsOf(answer);
        return { answer, customer, parts: back && (await rollBack(shop, answer)) ? [] : parts };
      });

      const said = `STRESS_SEED=${SEED}`;
      const refusals = outcomes.flatMap(({ answer }) => (answer.status === 200 ? [] : answer));
      expect(refusals.length, said).toBeGreaterThan(0);
      expect(refusals.length, said).toBeLessThan(REQUESTS);
      const odd = refusals.filter(({ status, body }) => status !== 400 || !LOSSES.has(body["key"]));
      expect(
        odd.map(({ text }) => text),
        said,
      ).toEqual([]);
      await expectTaken(shop, outcomes, said);
      expect(await invariantViolations(stack, shop.projectId), said).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

async function redeem(
  { api, redeemables }: StressProject,
  { picks, amount }: Pick<Wish, "picks" | "amount">,
  { customer, twice }: { readonly customer: string; readonly twice: boolean },
): Promise<ApiResponse> {
  const body = {
    redeemables: picks.map((position) => redeemables[position]),
    order: { amount },
    customer: { source_id: customer },
  };
  const headers = { "idempotency-key": newCode("key") };
  const send = (): Promise<ApiResponse> => sent(api, "/v1/redemptions", { body, headers });
  const [first, second] = await Promise.all([send(), twice ? send() : undefined]);
  if (second !== undefined) expect(second.text).toBe(first.text);
  return first;
}

/** Retries overload responses, which a busy machine may return; fails on internal errors. */
const sent = (
  api: StressProject["api"],
  path: string,
  { body, headers }: { readonly body: Json; readonly headers: Record<string, string> },
): Promise<ApiResponse> =>
  retryUnavailable(async () => {
    const answer = await api.post(path, body, headers);
    expect(answer.body["key"], path).not.toBe("internal_error");
    return answer;
  });

/** Sends two concurrent rollbacks, of which exactly one succeeds. */
async function rollBack({ api }: StressProject, { body }: ApiResponse): Promise<boolean> {
  const { redemptions, parent_redemption: parent } = body;
  const path = parent === undefined ? `${redemptions[0].id}/rollback` : `${parent.id}/rollbacks`;
  const answers = await Promise.all(
    [newCode("key"), newCode("key")].map((key) =>
      sent(api, `/v1/redemptions/${path}`, { body: {}, headers: { "idempotency-key": key } }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const lost = answers.find(({ status }) => status !== 200);
  expect(["already_rolled_back", "multiple_requests"]).toContain(lost?.body["key"]);
  return true;
}

type Part = { readonly of: string; readonly credits: number };
type Outcome = { readonly customer: string; readonly parts: readonly Part[] };

const partsOf = ({ body }: ApiResponse): Part[] =>
  body["redemptions"].map(({ voucher, amount, related_object_id: id }: Json) => ({
    of: voucher?.code ?? id,
    credits: amount ?? 0,
  }));

/** Expects stored quantities and balances to match the responses, within every limit. */
async function expectTaken(
  shop: StressProject,
  outcomes: readonly Outcome[],
  said: string,
): Promise<void> {
  const parts = outcomes.flatMap(({ parts: all, customer }) =>
    all.map((part) => ({ ...part, customer })),
  );
  for (const { object, id } of shop.redeemables) {
    if (object !== "voucher") continue;
    const own = parts.filter(({ of }) => of === id);
    const { body: voucher } = await shop.api.get(`/v1/vouchers/${id}`);
    expect(voucher["redemption"].redeemed_quantity, said).toBe(own.length);
    expect(own.length, said).toBeLessThanOrEqual(shop.quantities.get(id) ?? Infinity);
    const loaded = shop.gifts.get(id);
    if (loaded === undefined) continue;
    const spent = own.reduce((sum, { credits }) => sum + credits, 0);
    expect(voucher["gift"].balance, said).toBe(loaded - spent);
  }
  const { campaign, personal, tiers } = shop;
  const inCampaign = parts.filter(({ of }) => campaign.codes.has(of));
  expect(inCampaign.length, said).toBeLessThanOrEqual(campaign.count);
  for (const customer of new Set(parts.map((part) => part.customer))) {
    const own = parts.filter((part) => part.customer === customer);
    expect(own.filter(({ of }) => personal.codes.has(of)).length, said).toBeLessThanOrEqual(
      personal.count,
    );
    for (const tier of tiers.ids) {
      expect(own.filter(({ of }) => of === tier).length, said).toBeLessThanOrEqual(tiers.count);
    }
  }
}
