import { ApiError } from "@scrip/errors";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { DEFAULT_ADMISSION } from "@scrip/rpc";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { newToken, type Response, send, serverHeaders } from "./builders.ts";
import { NO_LIMITS, startTestGateway, type TestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

let isOver = false;
let release: () => void = () => {};
const released = new Promise<void>((resolve) => {
  release = resolve;
});
/** Heavy requests run until the end of the tests. */
const validation = stubService(
  ValidationService,
  {},
  async ({ redeemables }: { readonly redeemables: readonly unknown[] }) => {
    if (redeemables.length > 1) await released;
    throw new ApiError("not_implemented");
  },
);

let gateway: TestGateway;
let occupants: Promise<unknown>;
beforeAll(async () => {
  gateway = await startTestGateway({
    implementations: [validation],
    config: {
      admission: { ...DEFAULT_ADMISSION, work: 20, waitingWork: 80 },
      limits: { ...NO_LIMITS, callsPerMinute: 1_000 },
    },
  });
  const headers = await newCaller();
  // One runs and one waits.
  occupants = Promise.all([occupy(headers), occupy(headers)]);
  await vi.waitUntil(
    async () => {
      const metrics = await gateway.metrics.text();
      return ["running", "waiting"].every((state) =>
        new RegExp(`^admission_heavy_${state} [1-9]`, "m").test(metrics),
      );
    },
    { timeout: 20_000 },
  );
});
afterAll(async () => {
  isOver = true;
  release();
  await occupants;
  await gateway[Symbol.asyncDispose]();
});

/** Headers with a token that no request has used. */
const newCaller = async (scope = "api") =>
  serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, scope));

const HEAVY = {
  redeemables: Array.from({ length: 30 }, (_, index) => ({ object: "voucher", id: `V${index}` })),
  order: { items: Array.from({ length: 500 }, (_, line) => ({ product_id: `prod_${line}` })) },
};

const sendHeavy = (headers: Record<string, string>, path = "/v1/validations") =>
  send(`${gateway.url}${path}`, "POST", { headers, body: HEAVY });

/** Takes the place again when the request has waited too long. */
async function occupy(headers: Record<string, string>): Promise<void> {
  while (!isOver) await sendHeavy(headers);
}

/** What does not differ from request to request. */
const shapeOf = ({ status, headers, json }: Response) => ({
  status,
  body: { ...json, request_id: undefined },
  headers: [...headers.keys()].filter((name) => name !== "date").toSorted(),
  contentType: headers.get("content-type"),
  cacheControl: headers.get("cache-control"),
});

test("rejects a cached caller as the first time, and counts the call", async () => {
  const caller = await newCaller();
  const [late, early] = [await sendHeavy(caller), await sendHeavy(caller)];
  expect(late.status).toBe(429);
  expect(shapeOf(early)).toEqual(shapeOf(late));
  expect(early.json.request_id).toMatch(/^v-[0-9a-f]{18}$/);
  expect(early.json.request_id).toBe(early.headers.get("x-request-id"));
  expect(early.json.request_id).not.toBe(late.json.request_id);
  expect(Number(early.headers.get("content-length"))).toBe(early.text.length);
  expect(Number(early.headers.get("retry-after"))).toBeGreaterThan(0);
  const remaining = ({ headers }: Response) => Number(headers.get("x-rate-limit-remaining"));
  expect(remaining(early)).toBe(remaining(late) - 1);
});

test.each([
  ["a wrong secret", 401, { "X-App-Token": "wrong" }, "/v1/validations"],
  ["an unacceptable type", 406, { accept: "text/html" }, "/v1/validations"],
  ["a long key", 400, { "idempotency-key": "k".repeat(256) }, "/v1/validations"],
  ["an unknown path", 404, {}, "/v1/validations/nowhere"],
])("gives %s its own error", async (_name, status, headers, path) => {
  const caller = await newCaller();
  await sendHeavy(caller);
  expect((await sendHeavy({ ...caller, ...headers }, path)).status).toBe(status);
});

test("gives a missing scope its own error", async () => {
  const caller = await newCaller("vouchers");
  for (let time = 0; time < 2; time += 1) expect((await sendHeavy(caller)).status).toBe(403);
});

test("serves light requests of the same project", async () => {
  const caller = await newCaller();
  await sendHeavy(caller);
  const body = { redeemables: [{ object: "voucher", id: "V" }] };
  const light = await send(`${gateway.url}/v1/validations`, "POST", { headers: caller, body });
  expect(light.status).toBe(501);
});
