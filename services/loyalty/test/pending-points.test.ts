import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { runDueNights } from "../src/jobs/nightly.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, PER_EURO } from "./earning-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { earn, setUp, join } = earningIn(loyalty);

describe("pending points", () => {
  const voucherOf = (id: string, campaignId: string) => ({
    id,
    code: "CARD",
    campaignId,
    isLoyaltyCard: true,
    isReferralCode: false,
  });

  async function withPending(amounts: readonly bigint[]) {
    const rule = { ...PER_EURO, pendingPoints: { periodType: "DAY", periodValue: 14n } };
    const program = await setUp([rule]);
    const { customerId, cardId } = await join(program);
    for (const amount of amounts) await earn([program.paid(customerId, amount)]);
    const member = { memberId: "CARD", voucher: voucherOf(cardId, program.campaignId) };
    const { pendingPoints } = loyalty;
    const list = (request: object = {}) =>
      pendingPoints.listMemberPendingPoints({ ...member, order: "id", ...request }, program.call);
    const ids = (await list()).data.map(({ id }) => id);
    return { program, customerId, cardId, member, list, ids };
  }
  const change = (member: object, pendingPointsId = "") => ({ ...member, pendingPointsId });
  const details = (text: RegExp) => ({ options: { details: expect.stringMatching(text) } });

  test("are listed by page for a card and for a program, with what granted them", async () => {
    const { program, cardId, list, ids } = await withPending([1_000n, 2_000n, 3_000n]);
    const page = await list({ limit: 2n });
    expect(page).toMatchObject({ hasMore: true, moreStartingAfter: ids[1] });
    const [first] = page.data;
    expect(first).toMatchObject({
      voucherId: cardId,
      campaignId: program.campaignId,
      points: 10n,
      activatesAt: "2026-03-15",
      details: {
        event: {
          type: "customer.order.paid",
          entity_id: first?.orderId,
          created_at: expect.stringMatching(/Z$/),
          category: "EFFECT",
          event_source: { channel: "API" },
        },
        order: { id: first?.orderId, source_id: "o-1" },
      },
    });
    const next = await list({ limit: 2n, startingAfterId: ids[1] });
    expect([next.hasMore, next.data.map(({ points }) => points)]).toEqual([false, [30n]]);
    const all = await loyalty.pendingPoints.listPendingPoints(
      { campaignId: program.campaignId },
      program.call,
    );
    expect(all.data.map(({ points }) => points)).toEqual([30n, 20n, 10n]);
    await expect(list({ campaignId: "Other" })).rejects.toThrow(/not found/i);
    expect((await list({ campaignId: "Club" })).data).toHaveLength(3);
  });

  test("never exceed what a card can hold, so that each entry can become active", async () => {
    const { program, customerId, cardId, member, list, ids } = await withPending([1_000n, 2_000n]);
    const { call } = program;
    const { pendingPoints, cards } = loyalty;
    const limit = 10_000_000_000_000n;
    const adjust = (points: bigint) =>
      pendingPoints.adjustPendingPoints({ ...change(member, ids[0]), points }, call);
    await expect(adjust(limit - 29n)).rejects.toMatchObject({
      key: "invalid_amount",
      options: { details: "Only 9999999999970 points can be added" },
    });
    await adjust(limit - 31n);
    const reference = { projectId: call.project.id, cardId, campaignId: program.campaignId };
    const add = (points: bigint) =>
      cards.adjustPoints({ card: reference, operationId: `add ${points}`, points }, call);
    expect((await add(2n)).outcome).toMatchObject({ case: "rejected", value: { limit: 1n } });
    expect((await add(1n)).outcome.case).toBe("moved");
    await earn([program.paid(customerId, 1_000n)]);
    expect((await list()).data).toHaveLength(2);
    for (const id of ids) {
      await pendingPoints.activatePendingPoints(change(member, id), call);
    }
    expect((await list()).data).toEqual([]);
  });

  test("are adjusted while a point is left, activated or canceled once, and count as pending until then", async () => {
    const { program, cardId, member, list, ids } = await withPending([1_000n, 2_000n, 3_000n]);
    const { call } = program;
    const [first, second, third] = ids;
    const { pendingPoints } = loyalty;
    const adjust = (points: bigint) =>
      pendingPoints.adjustPendingPoints({ ...change(member, first), points }, call);
    expect(await adjust(-9n)).toMatchObject({ points: -9n, total: 51n, operationType: "MANUAL" });
    for (const points of [-1n, 0n]) {
      await expect(adjust(points)).rejects.toMatchObject({ key: "invalid_amount" });
    }
    const activated = await pendingPoints.activatePendingPoints(change(member, second), call);
    expect(activated).toMatchObject({ points: 20n, total: 20n, balance: 20n });
    await pendingPoints.cancelPendingPoints(change(member, third), call);
    expect((await list()).data.map(({ points }) => points)).toEqual([1n]);
    expect(await program.ledger()).toMatchObject([
      {
        card_id: cardId,
        type: "PENDING_POINTS_ACTIVATION",
        source: null,
        points: 20n,
        lots: { "2026-04-01": 20 },
        details: {
          pending_points: {
            id: second,
            voucher_id: cardId,
            campaign_id: program.campaignId,
            points: 20,
            details: { earning_rule: { id: expect.any(String) } },
          },
        },
      },
    ]);
    const again = pendingPoints.activatePendingPoints(change(member, second), call);
    await expect(again).rejects.toMatchObject(
      details(/be activated\. Current status: 'ACTIVATED'/),
    );
    const canceled = pendingPoints.cancelPendingPoints(change(member, third), call);
    await expect(canceled).rejects.toMatchObject(
      details(/be canceled\. Current status: 'CANCELED'/),
    );
    expect((await program.pending())[0]).toMatchObject({ pending_points: 1n });
    expect(await program.violations()).toEqual([]);
  });

  test("are summed by their outcome, by days", async () => {
    const { program, member, ids } = await withPending([1_000n, 2_000n, 3_000n]);
    const { call } = program;
    const [first, second, third] = ids;
    const { pendingPoints, cards } = loyalty;
    const adjust = (id: string | undefined, points: bigint) =>
      pendingPoints.adjustPendingPoints({ ...change(member, id), points }, call);
    await adjust(first, 4n);
    await adjust(first, -9n);
    await adjust(third, -5n);
    await pendingPoints.activatePendingPoints(change(member, second), call);
    await pendingPoints.cancelPendingPoints(change(member, third), call);
    const sums = async (period: object = {}) => {
      const request = { campaignId: program.campaignId, ...period };
      return (await cards.summarizeLedger(request, call)).figures;
    };
    expect(await sums()).toMatchObject({
      pending_points_added: 64n,
      pending_points_subtracted: 14n,
      pending_points_activated: 20n,
      pending_points_canceled: 25n,
      points_rewarded: 20n,
    });
    const before = { until: { seconds: 1_000_000_000n } };
    expect(await sums(before)).toMatchObject({
      pending_points_added: 0n,
      pending_points_subtracted: 0n,
      pending_points_canceled: 0n,
    });
  });

  test("become active at midnight of their date, once, also when jobs run concurrently", async () => {
    const { program, list } = await withPending([1_000n, 2_000n]);
    const deps = createDeps(loyalty.db);
    const projectId = program.call.project.id;
    const until = (date: string) => ({ projectId, timeZone: "UTC", now: Date.parse(date) });
    expect(await runDueNights(deps, until("2026-03-14T23:59:59Z"))).toBe(true);
    expect((await list()).data).toHaveLength(2);
    const night = until("2026-03-15T00:00:00Z");
    await Promise.all([1, 2, 3].map(() => runDueNights(deps, night)));
    expect((await list()).data).toEqual([]);
    expect(await program.ledger()).toMatchObject([
      { type: "PENDING_POINTS_ACTIVATION", points: 10n, source: "Automation" },
      { type: "PENDING_POINTS_ACTIVATION", points: 20n, source: "Automation" },
    ]);
  });

  test("are activated once by concurrent requests", async () => {
    const { program, member, ids } = await withPending([1_000n]);
    const attempts = Array.from({ length: 4 }, () =>
      loyalty.pendingPoints.activatePendingPoints(change(member, ids[0]), program.call),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await program.ledger()).toHaveLength(1);
  });
});
