import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { moneyVectors, textOf } from "./make-money-vectors.ts";
import type { Figures, Known, Vectors } from "./vector.ts";

const text = readFileSync(new URL("money-vectors.json", import.meta.url), "utf8");
const { vectors } = JSON.parse(text) as Vectors;

describe("golden vectors for money", () => {
  test("number at least 150 and have unique ids", () => {
    expect(vectors.length).toBeGreaterThanOrEqual(150);
    expect(new Set(vectors.map(({ id }) => id)).size).toBe(vectors.length);
  });

  test("match the oracle (run make-money-vectors.ts after changing a case)", () => {
    expect(text).toBe(textOf(moneyVectors()));
  });

  const known = vectors.flatMap(({ id, known: knownFigures, expected }) =>
    knownFigures === undefined ? [] : [[id, knownFigures, expected.order] as const],
  );
  test.each(known)(
    "match the results known independently of any program: %s",
    (_id, knownFigures, figures) => {
      expect(selectKnown(figures, knownFigures)).toEqual(knownFigures);
    },
  );

  test.each(vectors)(
    "contain consistent amounts: $id",
    ({ expected: { order, redeemables = [] } }) => {
      for (const figures of [order, ...redeemables]) expectSound(figures);
    },
  );
});

/** The same figures as in `known`. */
function selectKnown(figures: Figures, { from, ...knownFigures }: Known): Known {
  const lists = {
    discounts: figures.items.map((item) => item.discount_amount),
    discount_quantities: figures.items.map((item) => item.discount_quantity),
    quantities: figures.items.map(({ quantity }) => quantity),
  };
  const all: Readonly<Record<string, unknown>> = { ...figures, ...lists };
  return {
    from,
    ...Object.fromEntries(Object.keys(knownFigures).map((name) => [name, all[name]])),
  };
}

/** docs/order-calculation.md#equations */
function expectSound(figures: Figures): void {
  const sum = (pick: (item: Figures["items"][number]) => number): number =>
    figures.items.reduce((all, item) => all + pick(item), 0);
  expect(figures.items_discount_amount).toBe(sum((item) => item.discount_amount));
  expect(figures.items_applied_discount_amount).toBe(sum((item) => item.applied_discount_amount));
  expect(figures.total_discount_amount).toBe(
    figures.discount_amount + figures.items_discount_amount,
  );
  expect(figures.total_amount).toBe(figures.amount - figures.total_discount_amount);
  expect(figures.total_amount).toBeGreaterThanOrEqual(0);
  for (const item of figures.items) {
    expect(item.subtotal_amount).toBe(item.amount - item.discount_amount);
    expect(item.subtotal_amount).toBeGreaterThanOrEqual(0);
    expect(item.quantity).toBeGreaterThanOrEqual(0);
  }
}
