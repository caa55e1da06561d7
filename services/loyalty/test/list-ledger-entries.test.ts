import { afterAll, describe, expect, test } from "vitest";

import { holdIdOf, newBatchCall, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards } = loyalty;

describe("ListLedgerEntries", () => {
  test("pages through the entries of a card in both directions", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const { projectId, cardId } = card;
    for (let index = 0; index < 3; index += 1) {
      const holdId = holdIdOf(await card.hold(10n));
      await card.claim(holdId, `r_${index}`);
      if (index === 2) await card.refund(holdId, "r_2", "rr_2");
    }
    const list = async (descending: boolean, afterId?: string) => {
      const request = { projectId, cardId, limit: 2n, descending };
      const page = { ...request, ...(afterId !== undefined && { afterId }) };
      return cards.listLedgerEntries(page, newBatchCall());
    };
    const newest = await list(true);
    expect(newest.entries).toMatchObject([
      {
        type: "POINTS_REFUND",
        points: 10n,
        balance: 480n,
        redemptionId: "r_2",
        rollbackId: "rr_2",
      },
      { type: "POINTS_REDEMPTION", points: -10n, balance: 470n, redemptionId: "r_2" },
    ]);
    expect(newest.total).toBe(500n);
    const rest = await list(true, newest.entries[1]!.id);
    expect(rest.entries.map(({ redemptionId }) => redemptionId)).toEqual(["r_1", "r_0"]);
    const oldest = await list(false);
    expect(oldest.entries.map(({ redemptionId }) => redemptionId)).toEqual(["r_0", "r_1"]);
  });

  test("returns no entries for a card without redemptions or of another project", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const request = { projectId: card.projectId, cardId: card.cardId, limit: 10n };
    expect(await cards.listLedgerEntries(request, newBatchCall())).toMatchObject({
      entries: [],
      total: 0n,
    });
    await card.claim(holdIdOf(await card.hold(10n)), "r_1");
    const elsewhere = { ...request, projectId: "proj_other" };
    expect((await cards.listLedgerEntries(elsewhere, newBatchCall())).entries).toEqual([]);
  });
});

describe("ListPendingPointsHolds", () => {
  test("lists holds that are pending for longer than requested, oldest first", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const [claimed, released, pending, newest] = [
      holdIdOf(await card.hold(10n)),
      holdIdOf(await card.hold(10n)),
      holdIdOf(await card.hold(10n)),
      holdIdOf(await card.hold(10n)),
    ];
    await card.claim(claimed, "r_1");
    await card.release(released);
    await loyalty.db.query(
      "update points_spend set created_at = created_at - interval '1 hour' where id = any($1)",
      [[pending, released]],
    );
    const list = async (olderThanMs: bigint, limit = 10n) => {
      const { holds } = await cards.listPendingPointsHolds({ olderThanMs, limit }, newBatchCall());
      return holds
        .filter(({ projectId }) => projectId === card.projectId)
        .map(({ holdId }) => holdId);
    };
    expect(await list(1_800_000n)).toEqual([pending]);
    expect(await list(0n)).toEqual([pending, newest]);
    expect(await list(0n, 1n)).toEqual([pending]);
  });
});
