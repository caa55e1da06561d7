import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  RedemptionMadeSchema,
  RedemptionRolledBackSchema,
} from "@scrip/proto/scrip/events/v1/redemptions_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createDeps } from "../src/deps.ts";
import { onRedemptionPoints } from "../src/events/on-redemption-points.ts";
import { REDEMPTIONS_TOPIC } from "../src/events/on-redemption.ts";
import { deliveryFrom, holdIdOf, newEvent, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const handler = onRedemptionPoints(createDeps(loyalty.db));
const handle = (events: Parameters<typeof handler>[0]) =>
  handler(events, deliveryFrom(REDEMPTIONS_TOPIC));

const NOW = timestampFromMs(Date.now() + 1_000);

/** A card in a new project, and the events of one redemption with it. */
function newRedemption() {
  const card = newLoyaltyCard(loyalty, 500n);
  const { projectId } = card;
  const about = { projectId, topic: REDEMPTIONS_TOPIC };
  const ids = { projectId, redemptionId: "r_1", date: NOW };
  return {
    card,
    redeemed: (pointsHoldId?: string, sessionKey?: string) =>
      newEvent(RedemptionMadeSchema, about, {
        ...ids,
        ...(pointsHoldId !== undefined && { pointsHoldId }),
        ...(sessionKey !== undefined && { sessionKey }),
      }),
    rolledBack: (pointsHoldId?: string) =>
      newEvent(RedemptionRolledBackSchema, about, {
        ...ids,
        rollbackId: "rr_1",
        ...(pointsHoldId !== undefined && { pointsHoldId }),
      }),
  };
}

describe("onRedemptionPoints", () => {
  test("claims the hold of a redemption and refunds its rollback, even if events are delivered repeatedly", async () => {
    const { card, redeemed, rolledBack } = newRedemption();
    const holdId = holdIdOf(await card.hold(200n));
    await handle([redeemed(holdId), redeemed(holdId)]);
    await handle([redeemed(holdId)]);
    expect(await card.ledger()).toEqual([["POINTS_REDEMPTION", -200n, 300n]]);
    await handle([rolledBack(holdId), redeemed(holdId), rolledBack(holdId)]);
    expect(await card.ledger()).toEqual([
      ["POINTS_REDEMPTION", -200n, 300n],
      ["POINTS_REFUND", 200n, 500n],
    ]);
    expect(await card.violations()).toEqual([]);
  });

  test("claims and refunds a hold when the rollback is delivered first", async () => {
    const { card, redeemed, rolledBack } = newRedemption();
    const holdId = holdIdOf(await card.hold(200n));
    await handle([rolledBack(holdId)]);
    await handle([redeemed(holdId)]);
    expect(await card.ledger()).toHaveLength(2);
    expect(await card.balances()).toEqual({ points: 500n, balance: 500n, redeemedPoints: 0n });
  });

  test("releases the locks of the session that was redeemed", async () => {
    const { card, redeemed } = newRedemption();
    await card.lock("mine", 500n);
    const holdId = holdIdOf(await card.hold(100n, { sessionKey: "mine" }));
    await card.lock("mine", 400n);
    expect(await card.lock("other", 1n)).toBe(false);
    await handle([redeemed(holdId, "mine")]);
    expect(await card.lock("other", 400n)).toBe(true);
    expect(await card.violations()).toEqual([]);
  });

  test("changes nothing for redemptions without points", async () => {
    const { card, redeemed, rolledBack } = newRedemption();
    await card.hold(200n);
    await handle([redeemed(), rolledBack()]);
    expect(await card.balances()).toMatchObject({ balance: 300n });
    expect(await card.ledger()).toEqual([]);
  });

  test("either claims or releases a hold when its event and a release arrive concurrently", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { card, redeemed } = newRedemption();
      const holdId = holdIdOf(await card.hold(200n));
      await Promise.all([handle([redeemed(holdId)]), card.release(holdId)]);
      const { balance } = await card.balances();
      expect([500n, 300n]).toContain(balance);
      expect(await card.ledger()).toHaveLength(balance === 300n ? 1 : 0);
      expect(await card.violations()).toEqual([]);
    }
  });
});
