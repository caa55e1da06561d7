import { create } from "@bufbuild/protobuf";
import { ConnectError, Code } from "@connectrpc/connect";
import { notFound, ApiError, errorToProto } from "@scrip/errors";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { RedemptionSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import {
  type CreateVoucherRequest,
  type UpdateVoucherRequest,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

import { deleteExpired } from "../src/jobs/delete-expired.ts";
import { management, newToken, send, serverHeaders } from "./builders.ts";
import { startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

let made = 0;
let behave: () => Promise<void> = async () => {};
const calls: Call[] = [];

const gateway = await startTestGateway({
  implementations: [
    stubService(VoucherService, {
      async createVoucher(request: CreateVoucherRequest) {
        made += 1;
        await behave();
        return create(VoucherSchema, { id: `v_${made}`, code: request.code ?? `made-${made}` });
      },
      async updateVoucher(request: UpdateVoucherRequest) {
        made += 1;
        return create(VoucherSchema, { id: `v_${made}`, code: request.code });
      },
    }),
    stubService(ValidationService, {
      async redeemVoucher(_request: never, call: Call) {
        calls.push(call);
        if (call.idempotency !== undefined && calls.length > 1) call.onReplay?.();
        await behave();
        return create(RedemptionSchema, { id: `r_${made}` });
      },
      async validateVoucher() {
        made += 1;
        throw new ApiError("not_implemented");
      },
    }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));

beforeEach(() => {
  behave = async () => {};
  calls.length = 0;
});

const voucher = (code: string) => ({ code, type: "DISCOUNT_VOUCHER" });
const post = (key: string, body: object, path = "/v1/vouchers") =>
  send(gateway.url + path, "POST", { headers: { ...headers, "Idempotency-Key": key }, body });
const db = gateway.service.db;

describe("a repeat with the same Idempotency-Key", () => {
  test("returns the same bytes without a second call", async () => {
    const first = await post("same", voucher("same"));
    const before = made;
    const second = await post("same", voucher("same"));
    expect(first.status).toBe(200);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.status).toBe(200);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect(second.text).toBe(first.text);
    expect(second.headers.get("content-type")).toBe(first.headers.get("content-type"));
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(made).toBe(before);
  });

  test("may order JSON keys differently and end in a slash", async () => {
    await post("order", { code: "order", type: "DISCOUNT_VOUCHER", metadata: { a: 1, b: [2] } });
    const again = await post(
      "order",
      { metadata: { b: [2], a: 1 }, type: "DISCOUNT_VOUCHER", code: "order" },
      "/v1/vouchers/",
    );
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("is rejected with another body or query", async () => {
    await post("other", voucher("other"));
    for (const response of [
      await post("other", voucher("another")),
      await post("other", voucher("other"), "/v1/vouchers?code=x"),
    ]) {
      expect(response).toMatchObject({ status: 422, json: { key: "idempotency_key_reused" } });
    }
  });

  test("is a different request with another path, method or application", async () => {
    const before = made;
    await post("scope", voucher("scope"));
    await post("scope", voucher("scope"), "/v1/vouchers/scope");
    await send(`${gateway.url}/v1/vouchers/scope`, "PUT", {
      headers: { ...headers, "Idempotency-Key": "scope" },
      body: voucher("scope"),
    });
    expect(made).toBe(before + 3);
  });

  test.each([
    ["409", new ApiError("duplicate_found"), 409],
    ["404", notFound("category", "cat_x"), 404],
    ["400", new ApiError("invalid_voucher", { details: "why" }), 400],
  ])("replays a %s with its request id", async (name, rejection, status) => {
    behave = async () => {
      throw rejection;
    };
    const first = await post(`rejected-${name}`, voucher("rejected"));
    behave = async () => {};
    const second = await post(`rejected-${name}`, voucher("rejected"));
    expect(first.status).toBe(status);
    expect(second.status).toBe(status);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
  });

  test.each([
    ["429", new ApiError("too_many_requests")],
    ["500", new Error("a bug")],
    ["503", new ConnectError("away", Code.Unavailable)],
    ["503 of a broken connection", new ConnectError("read ECONNRESET", Code.Aborted)],
    ["403", new ApiError("forbidden")],
  ])("runs again after a %s", async (name, thrown) => {
    behave = async () => {
      throw thrown;
    };
    expect((await post(`again-${name}`, voucher("again"))).status).toBe(Number.parseInt(name, 10));
    behave = async () => {};
    const second = await post(`again-${name}`, voucher("again"));
    expect(second.status).toBe(200);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
  });

  test("runs again after a malformed body", async () => {
    expect((await post("malformed", { code: 5 })).status).toBe(400);
    expect((await post("malformed", voucher("malformed"))).status).toBe(200);
  });
});

test("a concurrent repeat is rejected with Retry-After", async () => {
  let release = (): void => {};
  let arrived = (): void => {};
  const running = new Promise<void>((resolve) => (arrived = resolve));
  behave = () => {
    arrived();
    return new Promise((resolve) => (release = resolve));
  };
  const first = post("flight", voucher("flight"));
  await running;
  const meanwhile = await post("flight", voucher("flight"));
  expect(meanwhile).toMatchObject({ status: 409, json: { key: "idempotency_in_progress" } });
  expect(meanwhile.headers.get("retry-after")).toBe("1");
  expect(await post("flight", voucher("other"))).toMatchObject({ status: 422 });
  release();
  const done = await first;
  const again = await post("flight", voucher("flight"));
  expect(again.text).toBe(done.text);
});

test("fifty concurrent repeats run once", async () => {
  const before = made;
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => post("many", voucher("many"))),
  );
  expect(made).toBe(before + 1);
  expect(responses.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
});

test("the key of a process that died is claimed again when its lock expires", async () => {
  await post("died", voucher("died"));
  await db.query(
    "update idempotency set status = null, headers = null, body = null where status = 200",
  );
  expect((await post("died", voucher("died"))).status).toBe(409);
  await db.query("update idempotency set locked_until = now() - interval '1 second'");
  const again = await post("died", voucher("died"));
  expect(again.status).toBe(200);
  expect(again.headers.get("idempotent-replayed")).toBeNull();
});

test("a request that lost its key cannot store its response", async () => {
  let release = (): void => {};
  let arrived = (): void => {};
  const running = new Promise<void>((resolve) => (arrived = resolve));
  behave = () => {
    arrived();
    return new Promise((resolve) => (release = resolve));
  };
  const slow = post("lost", voucher("lost"));
  await running;
  await db.query(
    "update idempotency set locked_until = now() - interval '1 second' where status is null",
  );
  behave = async () => {};
  const second = await post("lost", voucher("lost"));
  release();
  await slow;
  const third = await post("lost", voucher("lost"));
  expect(third.text).toBe(second.text);
});

test("stored responses expire after 48 hours", async () => {
  await post("old", voucher("old"));
  const { rows } = await db.query<{ hours: number }>(
    `select round(extract(epoch from max(expires_at) - now()) / 3600)::int as hours
       from idempotency`,
  );
  expect(rows[0]?.hours).toBe(48);
  await db.query("update idempotency set expires_at = now() - interval '1 second'");
  const again = await post("old", voucher("another body"));
  expect(again.status).toBe(200);
  await db.query("update idempotency set expires_at = now() - interval '1 second'");
  await deleteExpired(db, () => false);
  const left = await db.query("select 1 from idempotency");
  expect(left.rows).toHaveLength(0);
});

test.each([
  ["", 400],
  ["a".repeat(255), 200],
  ["a".repeat(256), 400],
])("rejects a key that is not 1 to 255 characters long (%#)", async (key, status) => {
  const response = await post(key, voucher(`length-${key.length}`));
  expect(response.status).toBe(status);
  if (status === 400) expect(response.json.key).toBe("invalid_idempotency_key");
});

describe("a call whose service stores the response", () => {
  const redeem = (key: string, body: object = {}) => post(key, body, "/v1/vouchers/A/redemption");

  test("receives the scoped key", async () => {
    const stored = await db.query("select 1 from idempotency");
    const first = await redeem("value");
    const second = await redeem("value", { metadata: { other: true } });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    const [one, two] = calls.map(({ idempotency }) => idempotency);
    expect(one?.key).toMatch(new RegExp(`^${gateway.keys.appId}:[\\w-]{43}$`));
    expect(two?.key).toBe(one?.key);
    expect(one?.requestHash).toHaveLength(32);
    expect(two?.requestHash).not.toEqual(one?.requestHash);
    expect((await db.query("select 1 from idempotency")).rows).toHaveLength(stored.rows.length);
  });

  test("replays a rejection byte for byte with the first request id", async () => {
    const stored = errorToProto(
      new ApiError("quantity_exceeded", { resourceId: "rf_1" }),
      "v-first",
    );
    behave = async () => {
      throw new ConnectError("rejected", Code.FailedPrecondition, undefined, [
        { desc: ErrorSchema, value: stored },
      ]);
    };
    await redeem("rejected");
    const again = await redeem("rejected");
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(again.json).toEqual({
      code: 400,
      key: "quantity_exceeded",
      message: "quantity exceeded",
      resource_id: "rf_1",
      request_id: "v-first",
    });
  });

  test("receives no key when none was sent", async () => {
    await send(`${gateway.url}/v1/vouchers/A/redemption`, "POST", { headers, body: {} });
    expect(calls[0]?.idempotency).toBeUndefined();
  });
});

test("the key is ignored for requests that are idempotent anyway", async () => {
  const before = made;
  for (let repeat = 0; repeat < 2; repeat += 1) {
    await post("harmless", {}, "/v1/vouchers/A/validate");
  }
  expect(made).toBe(before + 2);
});

test("management responses are stored, except those with secrets", async () => {
  const key = { "Idempotency-Key": "management" };
  const { json } = await management(gateway, "POST", "/projects", { name: "kept" });
  const put = () =>
    send(`${gateway.url}/management/v1/projects/${json.id}`, "PUT", {
      headers: {
        ...key,
        "X-Management-Id": "management-test",
        "X-Management-Token": "management-token-test",
      },
      body: { name: "renamed" },
    });
  const first = await put();
  const second = await put();
  expect(first.status).toBe(200);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.text).toBe(first.text);
  const { rows } = await db.query<{ body: Buffer }>("select body from idempotency");
  for (const { body } of rows) expect(body?.toString() ?? "").not.toContain("scrip_key_");
});
