import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type Admission, createAdmission, DEFAULT_ADMISSION } from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { expect, onTestFinished, test } from "vitest";

import { NO_LIMITS } from "../../test/deps.ts";
import type { Principal } from "../auth/principal.ts";
import { createRateLimits } from "../limits/rate-limits.ts";
import { createEarlyRejections, type EarlyRejectionDeps } from "./early-rejections.ts";
import type { Route } from "./route.ts";
import { createRouter } from "./router.ts";

const WORK = 20;

const route = {
  method: "POST",
  segments: ["v1", "validations"],
  side: "server",
  scope: "api",
  output: "json",
  upload: false,
  hasBody: true,
  isIdempotent: false,
  bodyBytes: 0,
  work: { ofLength: () => WORK },
} as unknown as Route;

const principal = (scope: string) =>
  ({ project: { id: "p" }, scopes: new Set([scope]) }) as unknown as Principal;

const CALLERS: Readonly<Record<string, Principal>> = {
  known: principal("api"),
  limited: principal("vouchers"),
};

/** Serves requests, and returns whether each was rejected early, with its status. */
async function serve(admission: Admission) {
  const outcomes: boolean[] = [];
  const limits = createRateLimits({
    settings: NO_LIMITS,
    onFallback: () => {},
  });
  const deps = {
    admission,
    router: createRouter([route]),
    body: { maxBodyBytes: 1_000 },
    auth: { cachedServer: (headers) => CALLERS[String(headers["x-app-id"])] },
    limits,
    callWindow: limits.callWindow,
    draining: () => false,
    clock: Date.now,
    trustedProxies: 0,
    onRequest: () => {},
    onError: (error) => {
      throw error;
    },
  } as Omit<EarlyRejectionDeps, "auth"> & {
    readonly auth: Pick<EarlyRejectionDeps["auth"], "cachedServer">;
  };
  const reject = createEarlyRejections(deps as EarlyRejectionDeps);
  const server = createServer((req, res) => {
    const isRejected = reject(req, res);
    outcomes.push(isRejected);
    if (!isRejected) res.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (caller: string, path = "/v1/validations") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "x-app-id": caller, "content-type": "application/json" },
      body: "{}",
    });
    return [outcomes.at(-1), response.status];
  };
}

const newAdmission = (): Admission =>
  createAdmission(
    { ...DEFAULT_ADMISSION, work: WORK, waitingWork: WORK },
    createMetrics({ withProcess: false }),
  );

/** Heavy requests of the project until there is no room. */
function fill(admission: Admission): void {
  for (;;) {
    const error = admission.overloadError("p", WORK);
    if (error !== undefined) return;
    admission
      .enter("p", WORK)
      .start(WORK)
      ?.catch(() => {});
  }
}

test("rejects a heavy request of a cached caller when there is no room", async () => {
  const admission = newAdmission();
  fill(admission);
  const send = await serve(admission);
  expect(await send("known")).toEqual([true, 429]);
});

test.each([
  ["a caller that is not cached", "unknown", undefined],
  ["a caller without the scope", "limited", undefined],
  ["an unknown path", "known", "/v1/nowhere"],
])("leaves %s to the other checks", async (_name, caller, path) => {
  const admission = newAdmission();
  fill(admission);
  const send = await serve(admission);
  expect(await send(caller, path)).toEqual([false, 200]);
});

test("rejects nothing while there is room", async () => {
  const send = await serve(newAdmission());
  expect(await send("known")).toEqual([false, 200]);
});
