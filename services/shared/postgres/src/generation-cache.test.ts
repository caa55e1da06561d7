import { expect, test } from "vitest";

import { createGenerationCache } from "./generation-cache.ts";

const PROJECTS = ["p0", "p1", "p2"];

test("retains used entries, within its limit", () => {
  const recent = createGenerationCache<number>(10);
  const projectOf = (n: number): string => PROJECTS[n % PROJECTS.length] as string;
  for (let n = 0; n < 1_000; n += 1) {
    recent.set(projectOf(n), `key${n}`, n);
    expect(recent.get("p0", "key0"), `after ${n}`).toBe(0);
  }
  const kept = Array.from({ length: 1_000 }, (_, n) => recent.get(projectOf(n), `key${n}`)).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(recent.get(projectOf(999), "key999")).toBe(999);
});

test("returns the latest value, also after an overwrite", () => {
  const recent = createGenerationCache<number>(4);
  recent.set("p0", "a", 1);
  for (const other of ["b", "c", "d"]) recent.set("p0", other, 0);
  recent.set("p0", "a", 2);
  for (const other of ["e", "f"]) recent.set("p0", other, 0);
  expect([2, undefined]).toContain(recent.get("p0", "a"));
});

test("separates projects", () => {
  const recent = createGenerationCache<number>(10);
  recent.set("p0", "a", 1);
  expect(recent.get("p1", "a")).toBeUndefined();
});
