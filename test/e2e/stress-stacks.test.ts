import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type ApiResponse, inParallel, type Json, newCode } from "../stack/api.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { retryUnavailable } from "../stack/retry.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { createStressProject, type StressProject } from "../stack/stress-project.ts";

/** Every run sends the same requests; STRESS_SEED=$RANDOM sends others, STRESS_REQUESTS=2000 sends more. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261_121);
const CLIENTS = 64;
const REQUESTS = Number(process.env["STRESS_REQUESTS"] ?? 200);
/** Generous: an idle machine needs less than a minute. */
const TIMEOUT_MS = 240_000;

type StressRequest = {
  readonly picks: readonly number[];
  readonly amount: number;
  readonly customer: number;
  /** The request is sent twice concurrently with one idempotency key. */
  readonly duplicate: boolean;
  /** Rolled back immediately by two concurrent requests. */
  readonly rollback: boolean;
};

const positions = Array.from({ length: 40 }, (_, position) => position);
const pick = (maxLength: number) => fc.shuffledSubarray(positions, { minLength: 1, maxLength });
const requestArbitrary: fc.Arbitrary<StressRequest> = fc.record({
  picks: fc.oneof({ weight: 2, arbitrary: pick(5) }, { weight: 1, arbitrary: pick(30) }),
  amount: fc.integer({ min: 1_000, max: 20_000 }),
  customer: fc.nat({ max: 4 }),
  duplicate: fc.boolean(),
  rollback: fc.boolean(),
});

/** Error keys of requests that lose a race. */
const CONFLICT_KEYS: ReadonlySet<string> = new Set([
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
      const project = await createStressProject(stack, mode);
      const customers = Array.from({ length: 5 }, () => newCode("buyer"));
      const requests = fc.sample(requestArbitrary, { seed: SEED, numRuns: REQUESTS });

      const outcomes = await inParallel(
        requests,
        CLIENTS,
        async ({ duplicate, rollback, ...one }) => {
          const customer = customers[one.customer]!;
          const response = await redeem(project, one, { customer, duplicate });
          if (response.status !== 200) return { response, customer, parts: [] };
          const parts = partsOf(response);
          return {
            response,
            customer,
            parts: rollback && (await rollBack(project, response)) ? [] : parts,
          };
        },
      );

      const seedMessage = `STRESS_SEED=${SEED}`;
      const rejections = outcomes.flatMap(({ response }) =>
        response.status === 200 ? [] : response,
      );
      expect(rejections.length, seedMessage).toBeGreaterThan(0);
      expect(rejections.length, seedMessage).toBeLessThan(REQUESTS);
      const unexpected = rejections.filter(
        ({ status, body }) => status !== 400 || !CONFLICT_KEYS.has(body["key"]),
      );
      expect(
        unexpected.map(({ text }) => text),
        seedMessage,
      ).toEqual([]);
      await expectConsistentUsage(project, outcomes, seedMessage);
      expect(await invariantViolations(stack, project.projectId), seedMessage).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

async function redeem(
  { api, redeemables }: StressProject,
  { picks, amount }: Pick<StressRequest, "picks" | "amount">,
  { customer, duplicate }: { readonly customer: string; readonly duplicate: boolean },
): Promise<ApiResponse> {
  const body = {
    redeemables: picks.map((position) => redeemables[position]),
    order: { amount },
    customer: { source_id: customer },
  };
  const headers = { "idempotency-key": newCode("key") };
  const send = (): Promise<ApiResponse> => sendWithRetry(api, "/v1/redemptions", { body, headers });
  const [first, second] = await Promise.all([send(), duplicate ? send() : undefined]);
  if (second !== undefined) expect(second.text).toBe(first.text);
  return first;
}

/** Retries overload responses, which a busy machine may return; fails on internal errors. */
const sendWithRetry = (
  api: StressProject["api"],
  path: string,
  { body, headers }: { readonly body: Json; readonly headers: Record<string, string> },
): Promise<ApiResponse> =>
  retryUnavailable(async () => {
    const response = await api.post(path, body, headers);
    expect(response.body["key"], path).not.toBe("internal_error");
    return response;
  });

/** Sends two concurrent rollbacks, of which exactly one succeeds. */
async function rollBack({ api }: StressProject, { body }: ApiResponse): Promise<boolean> {
  const { redemptions, parent_redemption: parent } = body;
  const path = parent === undefined ? `${redemptions[0].id}/rollback` : `${parent.id}/rollbacks`;
  const responses = await Promise.all(
    [newCode("key"), newCode("key")].map((key) =>
      sendWithRetry(api, `/v1/redemptions/${path}`, {
        body: {},
        headers: { "idempotency-key": key },
      }),
    ),
  );
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  const lost = responses.find(({ status }) => status !== 200);
  expect(lost?.body["key"]).toBe("already_rolled_back");
  return true;
}

type Part = { readonly target: string; readonly credits: number };
type Outcome = { readonly customer: string; readonly parts: readonly Part[] };

const partsOf = ({ body }: ApiResponse): Part[] =>
  body["redemptions"].map(({ voucher, amount, related_object_id: id }: Json) => ({
    target: voucher?.code ?? id,
    credits: amount ?? 0,
  }));

/** Expects stored quantities and balances to match the responses, within every limit. */
async function expectConsistentUsage(
  project: StressProject,
  outcomes: readonly Outcome[],
  seedMessage: string,
): Promise<void> {
  const parts = outcomes.flatMap(({ parts: all, customer }) =>
    all.map((part) => ({ ...part, customer })),
  );
  for (const { object, id } of project.redeemables) {
    if (object !== "voucher") continue;
    const own = parts.filter(({ target }) => target === id);
    const { body: voucher } = await project.api.get(`/v1/vouchers/${id}`);
    expect(voucher["redemption"].redeemed_quantity, seedMessage).toBe(own.length);
    expect(own.length, seedMessage).toBeLessThanOrEqual(project.quantities.get(id) ?? Infinity);
    const loaded = project.gifts.get(id);
    if (loaded === undefined) continue;
    const spent = own.reduce((sum, { credits }) => sum + credits, 0);
    expect(voucher["gift"].balance, seedMessage).toBe(loaded - spent);
  }
  const { campaign, personal, tiers } = project;
  const inCampaign = parts.filter(({ target }) => campaign.codes.has(target));
  expect(inCampaign.length, seedMessage).toBeLessThanOrEqual(campaign.count);
  for (const customer of new Set(parts.map((part) => part.customer))) {
    const own = parts.filter((part) => part.customer === customer);
    expect(
      own.filter(({ target }) => personal.codes.has(target)).length,
      seedMessage,
    ).toBeLessThanOrEqual(personal.count);
    for (const tier of tiers.ids) {
      expect(own.filter(({ target }) => target === tier).length, seedMessage).toBeLessThanOrEqual(
        tiers.count,
      );
    }
  }
}
