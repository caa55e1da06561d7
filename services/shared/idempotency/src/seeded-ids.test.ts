import { currentTime } from "@scrip/clock";
import { createdAtMs } from "@scrip/ids";
import { expect, test } from "vitest";

import { newSeed, seededIds } from "./seeded-ids.ts";

test("the same seed gives the same ids", () => {
  const seed = newSeed();
  const draw = (): string[] => {
    const newId = seededIds(seed);
    return [newId("v"), newId("camp"), newId("v")];
  };
  expect(draw()).toEqual(draw());
});

test("the ids of one seed differ, sort by creation and carry the time of the seed", () => {
  const before = Math.floor(currentTime());
  const newId = seededIds(newSeed());
  const ids = Array.from({ length: 100_000 }, () => newId("v"));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(ids);
  expect(createdAtMs(ids[0] ?? "")).toBeGreaterThanOrEqual(before);
  expect(createdAtMs(ids.at(-1) ?? "")).toBeLessThanOrEqual(currentTime());
});

test("two seeds of the same millisecond give different ids", () => {
  const time = "0199f0000000";
  expect(seededIds(`${time}000001one`)("v")).not.toBe(seededIds(`${time}000001two`)("v"));
});
