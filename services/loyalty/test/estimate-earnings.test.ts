import { newId } from "@scrip/ids";
import { afterAll, expect, test } from "vitest";

import { movePoints } from "../src/points/move-points.ts";
import { NOON } from "./builders.ts";
import { startLoyalty } from "./deps.ts";
import { earningIn, PER_EURO } from "./earning-programs.ts";
import { BRONZE, GOLD, tiersIn } from "./tier-programs.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db, earningRules, tiers } = loyalty;
const { earn, join } = earningIn(loyalty);
const { program, deps } = tiersIn(loyalty);

test("estimates with the tier that an accrual of the same moment uses, also while the tier lags behind the points", async () => {
  const club = await program([], { rules: [PER_EURO] });
  const { campaignId, call, projectId } = club;
  const [rule] = club.rules;
  const double = { [rule!.id]: { type: "MULTIPLY", multiplier: "2" } };
  await tiers.createLoyaltyTiers(
    { campaignId, tiers: [BRONZE, { ...GOLD, points: { from: 100n }, earningRules: double }] },
    call,
  );
  const { customerId, cardId } = await join(club);
  await club.deliver();
  const estimate = async (): Promise<bigint> => {
    const request = { campaignId, cardId, order: { amount: 1_000n } };
    return (await earningRules.estimateEarnings(request, call)).points;
  };
  const accrue = async (): Promise<bigint> => {
    const known = new Set((await club.ledger()).map(({ details }) => JSON.stringify(details)));
    await earn([club.paid(customerId, 1_000n)]);
    const added = (await club.ledger()).filter(
      ({ type, details }) => type === "POINTS_ACCRUAL" && !known.has(JSON.stringify(details)),
    );
    expect(added).toHaveLength(1);
    return added[0]!["points"] as bigint;
  };
  // The balance reaches Gold; the event that moves the tier is not consumed yet.
  await db.transaction((tx) =>
    movePoints(tx, deps, [
      {
        card: { projectId, cardId, initialPoints: 0n, campaignId },
        type: "POINTS_ADDITION",
        points: 100n,
        cause: newId("vtx"),
        at: NOON,
        expiredBefore: "2026-03-01",
      },
    ]),
  );
  expect((await club.tierOf(cardId))?.name).toBe("Bronze");
  expect([await estimate(), await accrue()]).toEqual([10n, 10n]);
  await club.deliver();
  expect((await club.tierOf(cardId))?.name).toBe("Gold");
  expect([await estimate(), await accrue()]).toEqual([20n, 20n]);
});
