import { expect, test } from "vitest";

import type { Allowance, RateLimits } from "../limits/rate-limits.ts";
import { createFailedLoginThrottle } from "./failed-login-throttle.ts";

test("an address beyond its limit starts no counters for further key ids", async () => {
  const counted = new Map<string, number>();
  const window = { type: "api_calls", policy: "failures", limit: 3, seconds: 60 } as const;
  const countFailedLogin = async (name: string): Promise<Allowance> => {
    const count = (counted.get(name) ?? 0) + 1;
    counted.set(name, count);
    return {
      window,
      remaining: Math.max(window.limit - count, 0),
      resetMs: 60_000,
      exhausted: count > window.limit,
    };
  };
  const throttle = createFailedLoginThrottle({ countFailedLogin } as RateLimits);
  const keys: string[] = [];
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    keys.push((await throttle("192.0.2.1", `key-${attempt}`)).key);
  }
  expect(keys).toEqual([
    ...Array.from({ length: 3 }, () => "unauthorized"),
    ...Array.from({ length: 7 }, () => "too_many_requests"),
  ]);
  expect([...counted.keys()]).toEqual(["address 192.0.2.1", "key key-1", "key key-2", "key key-3"]);
});
