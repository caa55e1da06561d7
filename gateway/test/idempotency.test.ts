import { create } from "@bufbuild/protobuf";
import { ConnectError, Code } from "@connectrpc/connect";
import { ApiError, errorToProto } from "@scrip/errors";
import {
  CategoryService,
  type ResolveCategoriesRequest,
  ResolveCategoriesResponseSchema,
  type UpdateCategoryRequest,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import {
  type AssignRulesRequest,
  AssignRulesResponseSchema,
  type ResolveAssignmentsRequest,
  ResolveAssignmentsResponseSchema,
  type RevokeRulesRequest,
  RevokeRulesResponseSchema,
  ValidationRuleService,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import {
  type CreateVoucherRequest,
  type UpdateVoucherRequest,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

import { deleteExpired } from "../src/jobs/delete-expired.ts";
import { management, newToken, send, serverHeaders } from "./builders.ts";
import { MANAGEMENT, startTestGateway } from "./deps.ts";
import { stubService } from "./service-stubs.ts";

/** The calls that the service received; it stores no responses, so every repetition is one. */
const calls: Call[] = [];
const reservedIds: (string | undefined)[] = [];
const revoked: string[] = [];
let behave: (call: Call) => void = () => {};
let categoryName = "Books";

const gateway = await startTestGateway({
  implementations: [
    stubService(VoucherService, {
      async createVoucher({ code, reservedId, categoryId }: CreateVoucherRequest, call: Call) {
        calls.push(call);
        reservedIds.push(reservedId);
        behave(call);
        return create(VoucherSchema, {
          id: "v_1",
          ...(code && { code }),
          ...(categoryId && { categoryId }),
        });
      },
      async updateVoucher({ code }: UpdateVoucherRequest, call: Call) {
        calls.push(call);
        return create(VoucherSchema, { id: "v_1", code });
      },
    }),
    stubService(CategoryService, {
      async updateCategory({ name }: UpdateCategoryRequest) {
        categoryName = name;
        return create(CategorySchema, { id: "cat_1", name });
      },
      async resolveCategories({ queries }: ResolveCategoriesRequest) {
        return create(ResolveCategoriesResponseSchema, {
          results: queries.map(({ id }) =>
            id === "cat_none" ? {} : { category: { id: id ?? "", name: categoryName } },
          ),
        });
      },
    }),
    stubService(ValidationRuleService, {
      async assignRules({ items }: AssignRulesRequest) {
        return create(AssignRulesResponseSchema, {
          outcomes: items.map(({ ruleIds }) =>
            ruleIds.includes("val_none") ? { unknownRuleId: "val_none" } : {},
          ),
        });
      },
      async resolveAssignments({ queries }: ResolveAssignmentsRequest) {
        return create(ResolveAssignmentsResponseSchema, { results: queries.map(() => ({})) });
      },
      async revokeRules({ items }: RevokeRulesRequest) {
        revoked.push(...items.map(({ relatedObjectId }) => relatedObjectId));
        return create(RevokeRulesResponseSchema);
      },
    }),
  ],
});
afterAll(() => gateway[Symbol.asyncDispose]());
const headers = serverHeaders(gateway.keys, await newToken(gateway, gateway.keys, "api"));
const { db } = gateway.service;

beforeEach(() => {
  behave = () => {};
  categoryName = "Books";
  for (const list of [calls, reservedIds, revoked]) list.length = 0;
});

const voucher = (code: string, more: object = {}) => ({ code, type: "DISCOUNT_VOUCHER", ...more });
const post = (key: string, body: object, path = "/v1/vouchers") =>
  send(gateway.url + path, "POST", { headers: { ...headers, "Idempotency-Key": key }, body });
const idempotencies = () =>
  calls.map(({ idempotency }) => ({
    key: idempotency?.key,
    hash: Buffer.from(idempotency?.requestHash ?? []).toString("hex"),
  }));
const rejectWith = (error: ApiError) => (): never => {
  throw error;
};

describe("the key that a service receives", () => {
  test("belongs to the application, and its hash to the request", async () => {
    await post("one", voucher("one"));
    const [received] = idempotencies();
    expect(received?.key).toMatch(new RegExp(`^${gateway.keys.appId}:[\\w-]{43}$`));
    expect(received?.hash).toHaveLength(64);
  });

  test("is the same when JSON keys have another order and the path ends in a slash", async () => {
    await post("order", { code: "order", type: "DISCOUNT_VOUCHER", metadata: { a: 1, b: [2] } });
    await post(
      "order",
      { metadata: { b: [2], a: 1 }, type: "DISCOUNT_VOUCHER", code: "order" },
      "/v1/vouchers/",
    );
    const [one, two] = idempotencies();
    expect(two).toEqual(one);
  });

  test("has another hash with another body or query", async () => {
    await post("other", voucher("other"));
    await post("other", voucher("another"));
    await post("other", voucher("other"), "/v1/vouchers?code=x");
    const received = idempotencies();
    expect(new Set(received.map(({ key }) => key)).size).toBe(1);
    expect(new Set(received.map(({ hash }) => hash)).size).toBe(3);
  });

  test("is another one with another path or method", async () => {
    await post("scope", voucher("scope"));
    await post("scope", voucher("scope"), "/v1/vouchers/scope");
    await send(`${gateway.url}/v1/vouchers/scope`, "PUT", {
      headers: { ...headers, "Idempotency-Key": "scope" },
      body: voucher("scope"),
    });
    expect(new Set(idempotencies().map(({ key }) => key)).size).toBe(3);
  });

  test("is absent without the header", async () => {
    await send(`${gateway.url}/v1/vouchers`, "POST", { headers, body: voucher("none") });
    expect(calls[0]?.idempotency).toBeUndefined();
  });

  test.each([
    ["", 400],
    ["a".repeat(255), 200],
    ["a".repeat(256), 400],
  ])("must have 1 to 255 characters (%#)", async (key, status) => {
    const response = await post(key, voucher(`length-${key.length}`));
    expect(response.status).toBe(status);
    if (status === 400) expect(response.json.key).toBe("invalid_idempotency_key");
  });
});

test("replays a rejection byte for byte with the first request id", async () => {
  const stored = errorToProto(new ApiError("duplicate_found", { resourceId: "v_1" }), "v-first");
  behave = ({ onReplay }) => {
    onReplay?.();
    throw new ConnectError("rejected", Code.AlreadyExists, undefined, [
      { desc: ErrorSchema, value: stored },
    ]);
  };
  const again = await post("rejected", voucher("rejected"));
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(again.json).toMatchObject({ key: "duplicate_found", request_id: "v-first" });
});

test("tells when to repeat a request that is in progress", async () => {
  behave = rejectWith(new ApiError("idempotency_in_progress"));
  const response = await post("flight", voucher("flight"));
  expect(response).toMatchObject({ status: 409, json: { key: "idempotency_in_progress" } });
  expect(response.headers.get("retry-after")).toBe("1");
});

describe("a response that the gateway completes", () => {
  const body = voucher("completed", { category_id: "cat_1" });

  test("is replayed as it was sent first", async () => {
    const first = await post("completed", body);
    expect(first.json.category).toBe("Books");
    const renamed = { headers, body: { name: "Renamed", hierarchy: 1 } };
    await send(`${gateway.url}/v1/categories/cat_1`, "PUT", renamed);
    expect((await post("later", body)).json.category).toBe("Renamed");

    expect((await post("completed", body)).text).toBe(first.text);
  });

  test("is not sent when it cannot be stored, since a repetition could differ", async () => {
    const rename = (from: string, to: string) =>
      asAdmin(gateway.databaseUrl, (client) =>
        client.query(`alter table gateway.${from} rename to ${to}`),
      );
    await rename("idempotency", "unavailable");
    const failed = await post("unstored", body).finally(() => rename("unavailable", "idempotency"));
    expect(failed).toMatchObject({ status: 503, json: { key: "service_unavailable" } });

    expect((await post("unstored", body)).status).toBe(200);
  });

  test("is stored for 48 hours", async () => {
    await post("old", body);
    const { rows } = await db.query<{ hours: number }>(
      `select round(extract(epoch from max(expires_at) - now()) / 3600)::int as hours
         from idempotency`,
    );
    expect(rows[0]?.hours).toBe(48);
    await db.query("update idempotency set expires_at = now() - interval '1 second'");
    await deleteExpired(db, () => false);
    expect((await db.query("select 1 from idempotency")).rows).toHaveLength(0);
  });
});

describe("a request that the gateway rejects", () => {
  test("is rejected by its service, which stores the rejection", async () => {
    behave = ({ idempotency }) => {
      if (idempotency?.rejection !== undefined) throw new ApiError("not_found");
    };
    const response = await post("unknown", voucher("unknown", { category_id: "cat_none" }));

    expect(response.status).toBe(404);
    expect(calls[0]?.idempotency?.rejection).toMatchObject({
      key: "not_found",
      resourceId: "cat_none",
      code: 404,
    });
  });

  test("gets the response of an earlier attempt that was not rejected", async () => {
    const response = await post("earlier", voucher("earlier", { category_id: "cat_none" }));

    expect([response.status, response.json.id]).toEqual([200, "v_1"]);
  });

  test("does not reach its service without a key", async () => {
    const body = voucher("unknown", { category_id: "cat_none" });
    const { status } = await send(`${gateway.url}/v1/vouchers`, "POST", { headers, body });
    expect([status, calls]).toEqual([404, []]);
  });
});

describe("an object with validation rules", () => {
  const body = (code: string, rule = "val_1") => voucher(code, { validation_rules: [rule] });

  test("has the same id at each repetition", async () => {
    await Promise.all([1, 2, 3].map(() => post("reserved", body("reserved"))));
    await post("other", body("reserved"));

    const [first] = reservedIds;
    expect(reservedIds).toEqual([first, first, first, expect.stringMatching(/^v_[0-9a-f]{18}$/)]);
    expect(reservedIds[3]).not.toBe(first);
  });

  test("rejects a key that was used with another request before it assigns rules", async () => {
    await post("reused", body("reused"));
    expect(await post("reused", body("another"))).toMatchObject({
      status: 422,
      json: { key: "idempotency_key_reused" },
    });
    expect([calls.length, revoked]).toEqual([1, []]);
  });

  test.each([
    ["stays assigned while another request with the key is in progress", "idempotency_in_progress"],
    ["stays assigned after a rejection that a repetition may not get", "too_many_requests"],
  ] as const)("%s", async (_, key) => {
    behave = rejectWith(new ApiError(key));
    await post(`kept-${key}`, body("kept"));
    expect(revoked).toEqual([]);
  });

  test("loses its rules after a rejection that is stored", async () => {
    behave = rejectWith(new ApiError("duplicate_found"));
    await post("lost", body("lost"));
    expect(revoked).toEqual(reservedIds);
  });

  test("keeps its rules when one of them was deleted before a repetition", async () => {
    const response = await post("deleted", body("deleted", "val_none"));

    expect(calls[0]?.idempotency?.rejection).toMatchObject({ key: "not_found" });
    // The service returned the response of the first attempt.
    expect([response.status, revoked]).toEqual([200, []]);
  });
});

test("stores management responses, except those with secrets", async () => {
  const { json } = await management(gateway, "POST", "/projects", { name: "stored" });
  const put = (name = "renamed") =>
    send(`${gateway.url}/management/v1/projects/${json.id}`, "PUT", {
      headers: {
        "Idempotency-Key": "management",
        "X-Management-Id": MANAGEMENT.id,
        "X-Management-Token": MANAGEMENT.token,
      },
      body: { name },
    });
  const first = await put();
  const second = await put();
  expect(first.status).toBe(200);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(second.text).toBe(first.text);
  expect((await put("other")).json.key).toBe("idempotency_key_reused");
  const { rows } = await db.query<{ response: Buffer | null }>(
    "select response from stored_request",
  );
  for (const { response } of rows) expect(String(response)).not.toContain("scrip_key_");
});
