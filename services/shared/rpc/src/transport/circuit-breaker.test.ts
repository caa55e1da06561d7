import { expect, test } from "vitest";

import { createCircuitBreaker } from "./circuit-breaker.ts";

function setUp() {
  const clock = { now: 0 };
  const breaker = createCircuitBreaker(() => clock.now);
  const call = (outcome: "succeeded" | "failed", times = 1): void => {
    for (let each = 0; each < times; each += 1) {
      breaker.begin();
      breaker.record(outcome);
    }
  };
  return { clock, breaker, call };
}

test("opens when half of at least twenty calls within ten seconds have failed", () => {
  const { breaker, call } = setUp();
  call("failed", 9);
  call("succeeded", 10);
  expect(breaker.allows()).toBe(true);
  call("failed");
  expect(breaker.allows()).toBe(false);
});

test("forgets failures after ten seconds", () => {
  const { clock, breaker, call } = setUp();
  call("failed", 19);
  clock.now = 10_001;
  call("failed");
  expect(breaker.allows()).toBe(true);
});

test("allows one trial every five seconds, and closes when it succeeds", () => {
  const { clock, breaker, call } = setUp();
  call("failed", 20);
  clock.now = 5_000;
  expect(breaker.allows()).toBe(true);
  breaker.begin();
  expect(breaker.allows()).toBe(false);
  breaker.record("failed");
  expect(breaker.allows()).toBe(false);
  clock.now = 10_000;
  call("succeeded");
  expect(breaker.allows()).toBe(true);
  call("failed", 19);
  expect(breaker.allows()).toBe(true);
});
