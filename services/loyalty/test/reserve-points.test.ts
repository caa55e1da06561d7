import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, test } from "vitest";

import { IN_AN_HOUR, newBatchCall, newLoyaltyCard, PROJECT_NOW } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { cards } = loyalty;

describe("ReservePoints", () => {
  test("locks points for a session and rejects more than is left to others", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    expect(await card.lock("a", 400n)).toBe(true);
    expect(await card.lock("b", 101n)).toBe(false);
    expect(await card.lock("b", 100n)).toBe(true);
    expect(await card.violations()).toEqual([]);
  });

  test("replaces the lock of the same session and returns the previous one", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 400n);
    const { projectId, cardId } = card;
    const reservation = { cardId, initialPoints: 500n, points: 500n, expiresAt: IN_AN_HOUR };
    const command = { projectId, sessionKey: "a", now: PROJECT_NOW, reservations: [reservation] };
    const { outcomes } = await cards.reservePoints({ commands: [command] }, newBatchCall());
    expect(outcomes).toMatchObject([{ reserved: true, previous: [{ cardId, points: 400n }] }]);
    expect(await card.lock("b", 1n)).toBe(false);
  });

  test("keeps the previous lock when the new one does not fit", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 400n);
    expect(await card.lock("a", 501n)).toBe(false);
    expect(await card.lock("b", 200n)).toBe(false);
  });

  test("ignores expired locks of other sessions", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 500n, timestampFromMs(Date.now() - 3_600_000));
    expect(await card.lock("b", 500n)).toBe(true);
  });

  test("releases the locks of a session that reserves no points", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 500n);
    const command = {
      projectId: card.projectId,
      sessionKey: "a",
      now: PROJECT_NOW,
      reservations: [],
    };
    await cards.reservePoints({ commands: [command] }, newBatchCall());
    expect(await card.lock("b", 500n)).toBe(true);
  });

  test("locks the last points for one of two concurrent sessions", async () => {
    for (let round = 0; round < 10; round += 1) {
      const card = newLoyaltyCard(loyalty, 500n);
      const reserved = await Promise.all([card.lock("a", 300n), card.lock("b", 300n)]);
      expect(new Set(reserved)).toEqual(new Set([false, true]));
      expect(await card.violations()).toEqual([]);
    }
  });
});

describe("ReleasePoints", () => {
  test("makes the locked points of a session available, repeatedly", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 500n);
    await card.unlock("a");
    await card.unlock("a");
    expect(await card.lock("b", 500n)).toBe(true);
  });

  test("releases only one card, or only locks taken until a time", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    const { projectId, cardId } = card;
    await card.lock("a", 500n);
    const release = (item: object) =>
      cards.releasePoints({ releases: [{ projectId, sessionKey: "a", ...item }] }, newBatchCall());
    await release({ cardId: "v_other" });
    await release({ until: timestampFromMs(Number(PROJECT_NOW.seconds) * 1000 - 60_000) });
    expect(await card.lock("b", 1n)).toBe(false);
    await release({ cardId, until: IN_AN_HOUR });
    expect(await card.lock("b", 500n)).toBe(true);
  });

  test("does not release the locks of other sessions or projects", async () => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.lock("a", 500n);
    await card.unlock("b");
    await newLoyaltyCard(loyalty, 1n).unlock("a");
    expect(await card.lock("c", 1n)).toBe(false);
  });
});
