import type { DescMethodUnary } from "@bufbuild/protobuf";
import { accessOf } from "@scrip/contract";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { ownServices, publicServices } from "../../gateway/src/public-services.ts";
import { type Json, managementApi, newCode } from "../stack/api.ts";
import { audienceOf, grpcCaller, grpcErrorOf } from "../stack/grpc.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";

const { createVoucher, getVoucher } = VoucherService.method;
const { validateVoucher, redeemVoucher } = ValidationService.method;

/** Every RPC that external gRPC callers may call. */
const rpcs = publicServices
  .filter((service) => !ownServices.includes(service))
  .flatMap(({ methods }) => methods)
  .filter((method): method is DescMethodUnary => method.methodKind === "unary")
  .filter((method) => (accessOf(method)?.server ?? "") !== "");

/** One RPC of each service. */
const firstMethods = [...Map.groupBy(rpcs, audienceOf).values()].flatMap(([first]) => first ?? []);

/** By when a change of a project is visible to gRPC callers. */
const SOON = { timeout: 2_000, interval: 50 };

const NOT_FOUND = { code: "NotFound", key: "not_found", resourceType: "project" };

describe.each(COMPOSITIONS)("projects of gRPC callers (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);

  const createProject = async (settings: Json = {}): Promise<string> => {
    const { status, body } = await management.post("/management/v1/projects", {
      name: newCode("grpc"),
      ...settings,
    });
    expect(status).toBe(200);
    return body["id"];
  };
  const callerOf = (projectId: string) => {
    const call = grpcCaller(stack, { projects: [projectId] });
    return <Method extends DescMethodUnary>(
      method: Method,
      request: Parameters<typeof call>[1],
      headers: Readonly<Record<string, string>> = {},
    ) => call(method, request, { "x-scrip-project": projectId, ...headers }) as Promise<any>;
  };
  const voucher = (code: string, more: object = {}) => ({
    code,
    type: VoucherType.DISCOUNT_VOUCHER,
    discount: { type: DiscountType.AMOUNT, amountOff: 100n },
    ...more,
  });

  test("rejects every RPC in an unknown and in a deleted project, also from Scrip's own services", async () => {
    const deleted = await createProject();
    const call = callerOf(deleted);
    await call(createVoucher, voucher(newCode("LAST")));
    await management.delete(`/management/v1/projects/${deleted}`);
    // Each service learns of the deletion on its own.
    await Promise.all(
      firstMethods.map((method) =>
        expect.poll(() => grpcErrorOf(call(method, {})), SOON).toEqual(NOT_FOUND),
      ),
    );
    expect(rpcs.length).toBeGreaterThan(100);
    for (const projectId of [deleted, "proj_000000000000000000"]) {
      for (const internal of [false, true]) {
        const caller = grpcCaller(stack, { internal, projects: [projectId] });
        const errors = await Promise.all(
          rpcs.map((rpc) => grpcErrorOf(caller(rpc, {}, { "x-scrip-project": projectId }))),
        );
        expect(errors).toEqual(rpcs.map(() => NOT_FOUND));
      }
    }
  });

  test("takes case sensitivity, time zone and code configuration from the project, not from headers", async () => {
    const projectId = await createProject({
      sandbox: true,
      timezone: "Europe/Warsaw",
      case_sensitive_codes: false,
      default_code_config: { length: 5, charset: "Q", prefix: "P-" },
    });
    // A Sunday in UTC and a Monday in Warsaw.
    await management.put(`/management/v1/projects/${projectId}/clock`, {
      now: "2030-06-02T22:30:00.000Z",
    });
    const headers = {
      "x-scrip-time-zone": "UTC",
      "x-scrip-first-weekday": "0",
      "x-scrip-case-insensitive-codes": "0",
      "x-scrip-code-config": encodeURIComponent('{"prefix":"HEADER-"}'),
      "x-scrip-now": "0",
      "x-scrip-project-version": "99",
    };
    const call = callerOf(projectId);
    const drawn = await call(createVoucher, { ...voucher(""), code: undefined }, headers);
    expect(drawn.code).toBe("P-QQQQQ");

    const code = newCode("MiXed");
    await call(createVoucher, voucher(code, { validityDayOfWeek: [1] }), headers);
    const lower = { code: code.toLowerCase() };
    expect((await call(getVoucher, lower, headers)).code).toBe(code);
    // The clock was set after the creation of the project, so its event may follow.
    const validity = () =>
      call(validateVoucher, { ...lower, order: { amount: 500n } }, headers).then(
        ({ valid }) => valid,
      );
    await expect.poll(validity, SOON).toBe(true);

    const sensitive = await createProject();
    const other = callerOf(sensitive);
    const insensitive = { "x-scrip-case-insensitive-codes": "1" };
    await other(createVoucher, voucher(code), insensitive);
    expect(await grpcErrorOf(other(getVoucher, lower, insensitive))).toMatchObject({
      code: "NotFound",
      resourceType: "voucher",
    });
  });

  test("serves a project immediately after its creation, over gRPC and HTTP", async () => {
    for (let i = 0; i < 3; i += 1) {
      const code = newCode("NEW");
      const projectId = await createProject();
      const call = callerOf(projectId);
      const [first, second] = await Promise.all([
        call(createVoucher, voucher(code)),
        call(createVoucher, voucher(newCode("NEW"))),
      ]);
      expect([first.code, second.code]).toEqual([code, expect.any(String)]);
    }
  });

  test("sees a changed setting and the sandbox clock within two seconds", async () => {
    const projectId = await createProject({ sandbox: true });
    const call = callerOf(projectId);
    const code = newCode("ZONE");
    await call(createVoucher, voucher(code, { validityDayOfWeek: [1] }));
    await management.put(`/management/v1/projects/${projectId}/clock`, {
      now: "2030-06-02T22:30:00.000Z",
    });
    const validity = () =>
      call(validateVoucher, { code, order: { amount: 500n } }).then(({ valid }) => valid);
    await expect.poll(validity, SOON).toBe(false);
    await management.put(`/management/v1/projects/${projectId}`, { timezone: "Europe/Warsaw" });
    await expect.poll(validity, SOON).toBe(true);
    const redemption = await call(redeemVoucher, { code, order: { amount: 500n } });
    expect(redemption.date).toMatchObject({ seconds: 1_906_669_800n });
  });
});
