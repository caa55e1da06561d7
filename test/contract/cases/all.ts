import { bundles } from "./bundles.ts";
import type { Case } from "./case.ts";
import { itemLevel, reference } from "./item-level.ts";
import { formulas, orderLevel } from "./order-level.ts";
import { selection } from "./selection.ts";
import { together } from "./together.ts";
import { free } from "./units.ts";

/** The cases that are written by hand: those of the specification, and its rules one by one. */
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
