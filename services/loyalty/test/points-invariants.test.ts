import { afterAll, describe, expect, test } from "vitest";

import { holdIdOf, newLoyaltyCard } from "./builders.ts";
import { startLoyalty } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { db } = loyalty;

describe("loyaltyInvariants", () => {
  test.each([
    ["I1 cards", "update loyalty_card set held_points = 0 where project_id = $1"],
    ["I1 cards", "update points_spend set points = 7 where project_id = $1 and status = 'PENDING'"],
    [
      "I2 removed points",
      "update loyalty_card set subtracted_points = 4, points = points + 1 where project_id = $1",
    ],
    ["I2 removed points", "update ledger_entry set total_after = 1 where project_id = $1"],
    ["I3 lots", "update points_lot set points = 1 where project_id = $1"],
    ["I3 lots", "delete from points_lot where project_id = $1"],
    ["I3 lots", "update loyalty_card set next_expiring_points = 1 where project_id = $1"],
    ["I4 points", "update ledger_entry set balance_after = 1 where project_id = $1"],
    ["I4 points", "delete from ledger_entry where project_id = $1"],
    ["I5 redeemed points", "update ledger_entry set points = -1 where project_id = $1"],
    [
      "I7 points holds",
      "update ledger_entry set cause = 'ps_other' where project_id = $1 and type = 'POINTS_REDEMPTION'",
    ],
    ["I1 locked points", "update points_lock set points = 418 where project_id = $1"],
  ])("report a corruption that breaks %s", async (name, corruption) => {
    const card = newLoyaltyCard(loyalty, 500n);
    await card.claim(holdIdOf(await card.hold(50n)), "r_1");
    await card.move({ type: "POINTS_ADDITION", points: 20n, expiresOn: "2099-12-31" });
    await card.move({ type: "POINTS_REMOVAL", points: 3n });
    await card.hold(50n);
    await card.lock("mine", 100n);
    expect(await card.violations()).toEqual([]);
    await db.query(corruption, [card.projectId]);
    expect(await card.violations(name)).not.toEqual([]);
  });
});
