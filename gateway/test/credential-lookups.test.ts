import { type Queryable } from "@scrip/postgres";
import { afterAll, expect, test } from "vitest";

import { createAuthenticator } from "../src/auth/authenticate.ts";
import { createCredentialCache } from "../src/auth/credential-cache.ts";
import { createFailedLoginThrottle, createLaneChoice } from "../src/auth/failed-login-throttle.ts";
import { createRateLimits } from "../src/limits/rate-limits.ts";
import { newToken, serverHeaders } from "./builders.ts";
import { MANAGEMENT, NO_LIMITS, startTestGateway } from "./deps.ts";

const gateway = await startTestGateway();
afterAll(() => gateway[Symbol.asyncDispose]());

const FLOODER = "192.0.2.1";
const LIMIT = 10;

/** The database of the gateway, with the number of queries; the next one can be held. */
function counting(db: Queryable) {
  const counts = { queries: 0, running: 0, mostRunning: 0 };
  let hold: Promise<void> | undefined;
  const counted: Queryable = {
    async query(statement, values) {
      counts.queries += 1;
      counts.running += 1;
      counts.mostRunning = Math.max(counts.mostRunning, counts.running);
      const held = hold;
      hold = undefined;
      try {
        await held;
        return await db.query(statement, values);
      } finally {
        counts.running -= 1;
      }
    },
  };
  return {
    db: counted,
    counts,
    holdNext: (until: Promise<void>): void => {
      hold = until;
    },
  };
}

test("a flood of wrong logins costs few lookups, delays no other address and blocks no valid credentials", async () => {
  const { db, counts, holdNext } = counting(gateway.service.db);
  const limits = createRateLimits({
    settings: { ...NO_LIMITS, failuresPerMinute: LIMIT },
    onFallback: () => {},
  });
  const auth = createAuthenticator({
    credentialCache: createCredentialCache(db, Date.now),
    management: MANAGEMENT,
    throttle: createFailedLoginThrottle(limits),
    laneOf: createLaneChoice(limits),
    clock: Date.now,
  });
  const tokens: string[] = [];
  for (let made = 0; made < 20; made += 1)
    tokens.push(await newToken(gateway, gateway.keys, "api"));
  const login = async (address: string, appId: string, token: string): Promise<string> => {
    const headers = serverHeaders({ appId, appToken: gateway.keys.appToken }, token);
    const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    try {
      return (await auth.server(Object.fromEntries(lower), address)).keyId;
    } catch (error) {
      return (error as { key: string }).key;
    }
  };
  for (let wrong = 0; wrong < LIMIT; wrong += 1) {
    expect(await login(FLOODER, `app_${wrong}`, "wrong")).toBe("unauthorized");
  }
  expect(await login(FLOODER, "app_more", "wrong")).toBe("too_many_requests");
  Object.assign(counts, { queries: 0, mostRunning: 0 });

  const gate = Promise.withResolvers<void>();
  holdNext(gate.promise);
  const flood = Array.from({ length: 3_000 }, (_, index) =>
    login(FLOODER, `app_guess_${index}`, `guess-${index}`),
  );
  const behind = tokens.slice(0, 10).map((token) => login(FLOODER, gateway.keys.appId, token));
  const others = tokens
    .slice(10)
    .map((token, index) => login(`198.51.100.${index}`, gateway.keys.appId, token));

  // The first lookup of the flood is held, and those of the other addresses do not wait for it.
  expect(new Set(await Promise.all(others))).toEqual(new Set([gateway.keys.appId]));
  gate.resolve();
  expect(new Set(await Promise.all(flood))).toEqual(new Set(["too_many_requests"]));
  expect(new Set(await Promise.all(behind))).toEqual(new Set([gateway.keys.appId]));
  // 3,010 lookups in batches of 200, one at a time, beside those of the other addresses.
  expect(counts.queries).toBeLessThanOrEqual(20);
  expect(counts.mostRunning).toBeLessThanOrEqual(3);
});
