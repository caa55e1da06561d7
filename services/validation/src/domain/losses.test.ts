import { expect, test } from "vitest";

import { givenUp, type Loss, lossesAfter, NOTHING_LOST } from "./losses.ts";
import { refusedForCode } from "./refusal.ts";

const used: Loss = { name: "voucher A", refusal: refusedForCode("quantity_exceeded", "A") };
const spent: Loss = { name: "voucher G", refusal: refusedForCode("gift_amount_exceeded", "G") };

const namesAfter = (losses: readonly (readonly Loss[])[], attempts: number): readonly string[] => [
  ...givenUp(
    losses.reduce((all, lost) => lossesAfter(all, lost), NOTHING_LOST),
    attempts,
  ).keys(),
];

test.each([
  ["nothing was lost", [], 3, []],
  ["a use that is gone is gone", [[used]], 1, ["voucher A"]],
  ["of a gift card something may be left", [[spent]], 1, []],
  ["but it is tried once more only", [[spent], [spent]], 2, ["voucher G"]],
  ["and not by a request that is old", [[spent]], 3, ["voucher G"]],
  ["each for itself", [[used, spent], [spent]], 2, ["voucher A", "voucher G"]],
] as const)("%s", (_name, losses, attempts, names) => {
  expect(namesAfter(losses, attempts)).toEqual(names);
});
