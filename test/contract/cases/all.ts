import { bundles } from "./bundles.ts";
import type { Case } from "./case.ts";
import { itemLevel, reference } from "./item-level.ts";
import { formulas, orderLevel } from "./order-level.ts";
import { selection } from "./selection.ts";
import { together } from "./together.ts";
import { free } from "./units.ts";

/** The hand-written cases: the examples of the documentation, and one or more per rule. */
export const cases: readonly Case[] = [
  ...reference,
  ...orderLevel,
  ...itemLevel,
  ...selection,
  ...free,
  ...bundles,
  ...formulas,
  ...together,
];
