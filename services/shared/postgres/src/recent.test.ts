import { expect, test } from "vitest";

import { createRecent } from "./recent.ts";

test("keeps what is used, and no more than it may", () => {
  const recent = createRecent<number>(10);
  for (let n = 0; n < 1_000; n += 1) {
    recent.set(`key${n}`, n);
    expect(recent.get("key0"), `after ${n}`).toBe(0);
  }
  const kept = Array.from({ length: 1_000 }, (_, n) => recent.get(`key${n}`)).filter(
    (value) => value !== undefined,
  );
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(recent.get("key999")).toBe(999);
});

test("answers what was set last, also of what it had before", () => {
  const recent = createRecent<number>(4);
  recent.set("a", 1);
  for (const other of ["b", "c", "d"]) recent.set(other, 0);
  recent.set("a", 2);
  for (const other of ["e", "f"]) recent.set(other, 0);
  expect([2, undefined]).toContain(recent.get("a"));
});
