import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { newId, requestId } from "@scrip/ids";
import { CardService, type HoldPointsOutcome } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { batchCall, clientOf, createDirectTransport } from "@scrip/rpc";
import { testDatabase } from "@scrip/testing";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { routes } from "../src/routes.ts";
import { MIGRATIONS, ROLE, SCHEMA } from "../src/service.ts";
import { loyaltyInvariants } from "../src/store/invariants.ts";
import { insertAssignment } from "../src/store/reward-assignments.ts";
import { insertReward } from "../src/store/rewards.ts";

const db = await testDatabase({ schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
afterAll(() => db[Symbol.asyncDispose]());
const cards = clientOf(CardService, createDirectTransport(routes(createDeps(db))));

const call = () => batchCall(requestId(), Date.now() + 60_000, Date.now());
const now = timestampFromMs(Date.now());
const later = timestampFromMs(Date.now() + 3_600_000);

/** What can be done to one card with this many points. */
function shopOf(initialPoints: bigint) {
  const projectId = newId("proj");
  const cardId = newId("v");
  return {
    projectId,
    spend: async (
      points: bigint,
      more: { requestKey?: string; sessionKey?: string } = {},
    ): Promise<HoldPointsOutcome["outcome"]> => {
      const parts = [{ cardId, initialPoints, points, rewardId: "rew_1" }];
      const commands = [{ projectId, now, parts, ...more }];
      const { outcomes } = await cards.holdPoints({ commands }, call());
      return outcomes[0]!.outcome;
    },
    settle: (spendId: string, redemptionId?: string) =>
      cards.resolvePointsHolds(
        {
          resolutions: [
            { projectId, holdId: spendId, ...(redemptionId !== undefined && { redemptionId }) },
          ],
        },
        call(),
      ),
    refund: (spendId: string, redemptionId: string, rollbackId: string) =>
      cards.refundPoints(
        { refunds: [{ projectId, holdId: spendId, redemptionId, rollbackId, now }] },
        call(),
      ),
    lock: async (sessionKey: string, points: bigint) => {
      const reservations = [{ cardId, initialPoints, points, expiresAt: later }];
      const commands = [{ projectId, sessionKey, now, reservations }];
      const { outcomes } = await cards.reservePoints({ commands }, call());
      return outcomes[0]!.reserved;
    },
    figures: async () => {
      const read = await cards.getCardBalances(
        { cards: [{ projectId, cardId, initialPoints }] },
        call(),
      );
      const { points, balance, redeemedPoints } = read.balances[0]!;
      return { points, balance, redeemedPoints };
    },
    entries: async () => {
      const { rows } = await db.query<{ type: string; points: bigint; balance_after: bigint }>(
        `select type, points, balance_after from ledger_entry
          where project_id = $1 order by version`,
        [projectId],
      );
      return rows.map((row) => [row.type, row.points, row.balance_after]);
    },
    faults: () => faultsOf(projectId, loyaltyInvariants),
    faultsOf: (invariant: string) =>
      faultsOf(
        projectId,
        loyaltyInvariants.filter(({ name }) => name === invariant),
      ),
  };
}

async function faultsOf(projectId: string, invariants: typeof loyaltyInvariants) {
  const request = { projectId, after: "", limit: 1_000 };
  const chunks = await Promise.all(invariants.map(({ checkChunk }) => checkChunk(db, request)));
  return chunks.flatMap(({ violations }) => violations);
}

const idOf = (outcome: HoldPointsOutcome["outcome"]): string =>
  outcome.case === "held" ? outcome.value.holds[0]!.id : "";

describe("points of a card", () => {
  test("are what it was made with until something moves them", async () => {
    const shop = shopOf(500n);
    expect(await shop.figures()).toEqual({ points: 500n, balance: 500n, redeemedPoints: 0n });
    await shop.spend(200n);
    expect(await shop.figures()).toEqual({ points: 500n, balance: 300n, redeemedPoints: 200n });
    expect(await shop.entries()).toEqual([]);
  });

  test("are taken once, and given back once for a rollback", async () => {
    const shop = shopOf(500n);
    const spendId = idOf(await shop.spend(200n));
    await Promise.all([1, 2, 3].map(() => shop.settle(spendId, "r_1")));
    // It was taken: that somebody gives it up changes nothing.
    await shop.settle(spendId);
    expect(await shop.figures()).toMatchObject({ balance: 300n });
    await Promise.all([1, 2, 3].map(() => shop.refund(spendId, "r_1", "rr_1")));
    expect(await shop.figures()).toEqual({ points: 500n, balance: 500n, redeemedPoints: 0n });
    expect(await shop.entries()).toEqual([
      ["POINTS_REDEMPTION", -200n, 300n],
      ["POINTS_REFUND", 200n, 500n],
    ]);
    expect(await shop.faults()).toEqual([]);
  });

  test("are taken before they are given back, also when the refund comes first", async () => {
    const shop = shopOf(500n);
    const spendId = idOf(await shop.spend(200n));
    await shop.refund(spendId, "r_1", "rr_1");
    await shop.settle(spendId, "r_1");
    expect(await shop.entries()).toHaveLength(2);
    expect(await shop.figures()).toMatchObject({ balance: 500n });
  });

  test("leave no trace in the ledger when their redemption came to nothing", async () => {
    const shop = shopOf(500n);
    const spendId = idOf(await shop.spend(500n));
    expect((await shop.spend(1n)).case).toBe("rejected");
    await shop.settle(spendId);
    await shop.settle(spendId, "r_late");
    expect(await shop.figures()).toMatchObject({ balance: 500n });
    expect(await shop.entries()).toEqual([]);
    expect(await shop.faults()).toEqual([]);
  });

  test("are held once for all tries of a request, and anew after they were given back", async () => {
    const shop = shopOf(500n);
    const tries = await Promise.all([1, 2, 3].map(() => shop.spend(400n, { requestKey: "key" })));
    expect(new Set(tries.map(idOf)).size).toBe(1);
    await shop.settle(idOf(tries[0]!));
    const again = await shop.spend(400n, { requestKey: "key" });
    expect(idOf(again)).not.toBe(idOf(tries[0]!));
    expect(await shop.figures()).toMatchObject({ balance: 100n });
  });

  test("and the last piece of a reward are there for all tries of a request", async () => {
    const projectId = newId("proj");
    const [campaignId, rewardId] = [newId("camp"), newId("rew")];
    const at = new Date();
    await insertReward(db, projectId, {
      id: rewardId,
      name: null,
      type: "MATERIAL",
      parameters: { product: { id: "prod_1", sku_id: null } },
      stock: 2n,
      redeemed: 0n,
      attributes: {},
      metadata: {},
      created_at: at,
      updated_at: null,
    });
    await insertAssignment(db, projectId, {
      id: newId("rewa"),
      reward_id: rewardId,
      campaign_id: campaignId,
      points: 100n,
      auto_redeem: null,
      created_at: at,
      updated_at: null,
    });
    const names = [newId("v"), newId("v")].map((cardId) => ({ cardId, initialPoints: 100n }));
    const parts = names.map((name) => ({ ...name, points: 100n, rewardId, takesStock: true }));
    const commands = [{ projectId, now, parts, requestKey: "key" }];
    const { outcomes } = await cards.holdPoints({ commands }, call());
    expect(outcomes[0]?.outcome.case).toBe("held");

    const seenBy = async (requestKey: string) => {
      const asked = names.map((name) => ({ ...name, campaignId, rewardId }));
      const queries = [{ projectId, now, requestKey, cards: asked }];
      const { results: answers } = await cards.loadCards({ queries }, call());
      return answers[0]?.cards.map(({ balances: figures, reward }) => [
        figures?.balance,
        reward?.redeemed,
      ]);
    };
    expect(await seenBy("key")).toEqual([
      [100n, 0n],
      [100n, 0n],
    ]);
    expect(await seenBy("other")).toEqual([
      [0n, 2n],
      [0n, 2n],
    ]);
  });

  test("stay locked for a session whose redemption came to nothing", async () => {
    const shop = shopOf(500n);
    expect(await shop.lock("mine", 400n)).toBe(true);
    const spendId = idOf(await shop.spend(400n, { sessionKey: "mine" }));
    expect(await shop.lock("other", 200n)).toBe(false);
    await shop.settle(spendId);
    expect(await shop.lock("other", 200n)).toBe(false);
    expect(await shop.lock("other", 100n)).toBe(true);
    expect(await shop.faults()).toEqual([]);
  });

  test.each([
    ["I1 cards", "update loyalty_card set held_points = 0 where project_id = $1"],
    ["I1 cards", "update points_spend set points = 7 where project_id = $1 and status = 'PENDING'"],
    ["I4 points", "update ledger_entry set balance_after = 1 where project_id = $1"],
    ["I4 points", "delete from ledger_entry where project_id = $1"],
    ["I5 redeemed points", "update ledger_entry set points = -1 where project_id = $1"],
    ["I7 points holds", "update ledger_entry set cause = 'ps_other' where project_id = $1"],
    ["I1 locked points", "update points_lock set points = 401 where project_id = $1"],
  ])("that break %s are noticed", async (name, corruption) => {
    const shop = shopOf(500n);
    await shop.settle(idOf(await shop.spend(50n)), "r_1");
    await shop.spend(50n);
    await shop.lock("mine", 100n);
    expect(await shop.faults()).toEqual([]);
    await db.query(corruption, [shop.projectId]);
    const found = await shop.faultsOf(name);
    expect(found).not.toEqual([]);
  });

  test("keep their books whatever many do to them at once", async () => {
    const action = fc.record({
      points: fc.bigInt({ min: 1n, max: 90n }),
      end: fc.constantFrom("taken", "given back", "rolled back", "left"),
      session: fc.option(fc.constantFrom("a", "b")),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 24 }), async (actions) => {
        const shop = shopOf(300n);
        const ends = await Promise.all(
          actions.map(async ({ points, end, session }, at) => {
            if (session !== null) await shop.lock(session, points);
            const sessionKey = session === null ? {} : { sessionKey: session };
            const spendId = idOf(await shop.spend(points, sessionKey));
            if (spendId === "") return 0n;
            if (end === "left") return points;
            if (end === "given back") return shop.settle(spendId).then(() => 0n);
            await Promise.all([1, 2].map(() => shop.settle(spendId, `r_${at}`)));
            if (end === "taken") return points;
            await Promise.all([1, 2].map(() => shop.refund(spendId, `r_${at}`, `rr_${at}`)));
            return 0n;
          }),
        );
        const spent = ends.reduce((sum, points) => sum + points, 0n);
        expect(await shop.figures()).toMatchObject({ balance: 300n - spent });
        expect(await shop.faults()).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });
});
