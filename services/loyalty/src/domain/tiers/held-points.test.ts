import fc from "fast-check";
import { expect, test } from "vitest";

import { heldOfBalance, type HeldRewards } from "./held-points.ts";

test("the points that are left after each entry do not depend on which entries are settled together", () => {
  const entry = fc.record({ points: fc.bigInt({ min: 1n, max: 400n }), settled: fc.boolean() });
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 150n }), fc.array(entry), (price, entries) => {
      let total = 0n;
      let followed = 0;
      const balances: bigint[] = [];
      const holds: HeldRewards[] = [];
      const left: bigint[] = [];
      for (const [index, { points, settled }] of entries.entries()) {
        total += points;
        balances.push(total);
        if (!settled && index < entries.length - 1) continue;
        const held = holds.reduce((sum, hold) => sum + hold.price * hold.quantity, 0n);
        const quantity = (total - held) / price;
        if (quantity > 0n) holds.push({ price, quantity });
        for (; followed <= index; followed++) {
          const balance = balances[followed]!;
          left.push(balance - heldOfBalance(balance, holds));
        }
      }
      expect(left).toEqual(balances.map((balance) => balance % price));
    }),
  );
});
