import { once } from "node:events";
import { connect } from "node:http2";
import path from "node:path";

import * as grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { createTokenSource } from "@scrip/rpc";
import { Client as Postgres } from "pg";
import { expect, test } from "vitest";

import { managementApi, newCode, serverApi } from "../stack/api.ts";
import { ROOT } from "../stack/process.ts";
import { sharedStack } from "../stack/stack.ts";

// Like a caller in another language: uses only the .proto files, an address and a service token.
const stack = await sharedStack("distributed");

const proto = grpc.loadPackageDefinition(
  loadSync(
    [
      "scrip/voucher/v1/vouchers.proto",
      "scrip/voucher/v1/redemptions.proto",
      "scrip/validation/v1/validations.proto",
      "grpc/health/v1/health.proto",
      "grpc/reflection/v1/reflection.proto",
      "grpc/reflection/v1alpha/reflection.proto",
    ],
    {
      includeDirs: [path.join(ROOT, "proto"), path.join(ROOT, "node_modules/google-proto-files")],
      keepCase: true,
      longs: String,
      enums: String,
      defaults: true,
    },
  ),
) as any;

const project = await projectId();
const CLAIMS = { name: "warehouse", internal: false, scopes: ["vouchers"], projects: [project] };
const tokenFor = createTokenSource(stack.serviceKeys, CLAIMS);

const UNKNOWN = { code: grpc.status.NOT_FOUND };
const BLOCKED = { code: grpc.status.RESOURCE_EXHAUSTED };

test("gRPC: a service with a token creates a voucher and redeems it once", async () => {
  const code = newCode("GRPC");
  const vouchers = clientOf(proto.scrip.voucher.v1.VoucherService, "voucher");
  const voucher = await vouchers("CreateVoucher", {
    code,
    type: "VOUCHER_TYPE_DISCOUNT_VOUCHER",
    discount: { type: "DISCOUNT_TYPE_AMOUNT", amount_off: 250 },
    redemption: { quantity: 1 },
  });
  expect(voucher).toMatchObject({ code, discount: { amount_off: "250" } });

  const validations = clientOf(proto.scrip.validation.v1.ValidationService, "validation");
  const redemption = await validations("RedeemVoucher", { code, order: { amount: 1000 } });
  expect(redemption).toMatchObject({
    result: "REDEMPTION_RESULT_SUCCESS",
    order: { total_amount: "750" },
  });
  await expect(validations("RedeemVoucher", { code })).rejects.toMatchObject({
    code: grpc.status.FAILED_PRECONDITION,
    details: "quantity exceeded",
  });
});

test("gRPC: invalid rules and the id reserved by the gateway are rejected by the owning service", async () => {
  const vouchers = clientOf(proto.scrip.voucher.v1.VoucherService, "voucher");
  const body = { type: "VOUCHER_TYPE_GIFT_VOUCHER", gift: { amount: 1 } };
  for (const own of [{ validation_rules: ["val_1"] }, { reserved_id: "v_01a1ff736ec92c17d9" }]) {
    await expect(vouchers("CreateVoucher", { ...body, ...own })).rejects.toMatchObject({
      code: grpc.status.INVALID_ARGUMENT,
    });
  }
});

test("gRPC: an idempotency key belongs to one caller, one RPC and one request", async () => {
  const vouchers = clientOf(proto.scrip.voucher.v1.VoucherService, "voucher");
  const validations = clientOf(proto.scrip.validation.v1.ValidationService, "validation");
  const [one, other] = [newCode("KEY"), newCode("KEY")];
  for (const code of [one, other]) {
    await vouchers("CreateVoucher", {
      code,
      type: "VOUCHER_TYPE_GIFT_VOUCHER",
      gift: { amount: 1000 },
    });
  }
  const key = newCode("key");
  const redeem = (code: string, credits: number) =>
    validations("RedeemVoucher", { code, gift: { credits } }, key);
  const first: any = await redeem(one, 10);
  expect(first.voucher.gift.balance).toBe("990");
  expect(await redeem(one, 10)).toEqual(first);
  await expect(redeem(one, 500)).rejects.toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
  await expect(redeem(other, 10)).rejects.toMatchObject({ code: grpc.status.FAILED_PRECONDITION });
  // The key belongs to the RPC, and every RPC that writes stores its response.
  const gift = { type: "VOUCHER_TYPE_GIFT_VOUCHER", gift: { amount: 1 } };
  const created: any = await vouchers("CreateVoucher", gift, key);
  expect(created.code).toBeTruthy();
  expect(await vouchers("CreateVoucher", gift, key)).toEqual(created);
  await expect(vouchers("GetVoucher", { code: one }, key)).rejects.toMatchObject({
    code: grpc.status.INVALID_ARGUMENT,
  });
});

test("gRPC: requests pass the same checks as over HTTP", async () => {
  const validations = clientOf(proto.scrip.validation.v1.ValidationService, "validation");
  await expect(
    validations("ValidateVoucher", { code: "X", session: { type: "KEEP" } }),
  ).rejects.toMatchObject({
    code: grpc.status.INVALID_ARGUMENT,
  });
});

test("gRPC: a missing token, a wrong audience, another project and a missing scope are rejected", async () => {
  const service = proto.scrip.voucher.v1.VoucherService;
  const call = (metadata: grpc.Metadata) =>
    invoke({ service, name: "voucher", method: "GetVoucher" }, { code: "X" }, metadata);
  await expect(call(new grpc.Metadata())).rejects.toMatchObject({
    code: grpc.status.UNAUTHENTICATED,
  });
  await expect(call(await metadataFor("validation", project))).rejects.toMatchObject({
    code: grpc.status.UNAUTHENTICATED,
  });
  await expect(call(await metadataFor("voucher", "proj_other"))).rejects.toMatchObject({
    code: grpc.status.PERMISSION_DENIED,
  });
  const redemptions = proto.scrip.voucher.v1.RedemptionService;
  for (const method of ["GetRedemption", "CommitRedemptions"]) {
    await expect(
      invoke(
        { service: redemptions, name: "voucher", method },
        {},
        await metadataFor("voucher", project),
      ),
    ).rejects.toMatchObject({ code: grpc.status.PERMISSION_DENIED });
  }
});

test("gRPC: a service that guesses codes is blocked in its project, and one of its customers before", async () => {
  const name = newCode("guesser");
  const guesser = createTokenSource(stack.serviceKeys, { ...CLAIMS, name });
  const vouchers = clientOf(proto.scrip.voucher.v1.VoucherService, "voucher", guesser);
  const validations = clientOf(proto.scrip.validation.v1.ValidationService, "validation", guesser);
  const real = newCode("REAL");
  await vouchers("CreateVoucher", {
    code: real,
    type: "VOUCHER_TYPE_GIFT_VOUCHER",
    gift: { amount: 1 },
  });
  const before = await readCounters(stack);
  const validate = (code: string, customer: string) =>
    validations("ValidateVoucher", { code, customer: { source_id: customer } });
  for (let sent = 0; sent < 20; sent += 1) {
    await expect(validate(newCode("GUESS"), "ada")).rejects.toMatchObject(UNKNOWN);
    if (sent === 10) await validate(real, "ada");
  }
  await expect(validate(real, "ada")).rejects.toMatchObject(BLOCKED);
  await expect(validate(newCode("GUESS"), "bob")).rejects.toMatchObject(UNKNOWN);

  const get = (code: string) => vouchers("GetVoucher", { code });
  const foreign = await foreignCode();
  const guesses = [foreign, ...Array.from({ length: 299 }, () => newCode("GUESS"))];
  const answers = await Promise.allSettled(guesses.map(get));
  const errors = answers.map(({ reason }: any) => `${reason.code} ${reason.details}`);
  expect(new Set(errors)).toEqual(new Set([errors[0]]));
  expect(errors[0]).toContain(`${grpc.status.NOT_FOUND} `);
  const blocked: any = await get(real).catch((error: unknown) => error);
  expect(blocked).toMatchObject(BLOCKED);
  expect(Number(blocked.metadata.get("retry-after")[0])).toBeGreaterThan(270);
  // Other RPCs and other callers are not affected.
  await vouchers("ListVouchers", {});
  const others = clientOf(proto.scrip.voucher.v1.VoucherService, "voucher");
  expect(await others("GetVoucher", { code: real })).toMatchObject({ code: real });
  const after = await readCounters(stack);
  expect(after.misses - before.misses).toBe(300);
  expect(after.blocks - before.blocks).toBe(1);
  expect(after.alarms).toBeGreaterThan(0);
  const entries = `/management/v1/projects/${project}/audit-log?actor_id=${name}`;
  await expect
    .poll(async () => (await managementApi(stack).get(entries)).body["data"])
    .toContainEqual(
      expect.objectContaining({
        action: "codeFoundAfterMisses",
        actor: { type: "service", id: name },
        request_id: expect.stringMatching(/^v-/),
      }),
    );
});

/** Of the voucher service, whose stack other files may have used. */
async function readCounters({ metrics }: typeof stack) {
  const text = await (await fetch(metrics["voucher"] ?? "")).text();
  const read = (name: string): number =>
    Number(
      text
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length) ?? 0,
    );
  return {
    misses: read('code_misses_total{side="service"}'),
    blocks: read('code_guessing_blocks_total{side="service",scope="address"}'),
    alarms: read("code_guessing_alarms"),
  };
}

test("gRPC: a call without a token is rejected before its body is read", async () => {
  const session = connect(stack.grpc["voucher"] ?? "");
  const call = session.request({
    ":method": "POST",
    ":path": "/scrip.voucher.v1.VoucherService/CreateVoucher",
    "content-type": "application/grpc+proto",
  });
  // The message announces four million bytes and never ends.
  call.write(Buffer.from([0, 0, 0x3d, 0x09, 0, 1, 2, 3]));
  const [headers] = await once(call, "response");
  expect(headers["grpc-status"]).toBe(String(grpc.status.UNAUTHENTICATED));
  await once(call.resume(), "close");
  session.close();
});

test("gRPC: health and reflection respond without a token", async () => {
  const health = await invoke(
    { service: proto.grpc.health.v1.Health, name: "voucher", method: "Check" },
    {},
    new grpc.Metadata(),
  );
  expect(health).toMatchObject({ status: "SERVING" });

  for (const version of ["v1", "v1alpha"]) {
    const reflection = new proto.grpc.reflection[version].ServerReflection(
      addressOf("voucher"),
      grpc.credentials.createInsecure(),
    );
    const stream = reflection.ServerReflectionInfo();
    const responses: any[] = [];
    stream.on("data", (response: any) => responses.push(response));
    stream.on("error", (error: Error) => responses.push(error));
    stream.write({ list_services: "" });
    stream.write({ file_containing_symbol: "grpc.health.v1.Health" });
    await expect.poll(() => responses.length).toBe(2);
    const [listed, described] = responses;
    const names = listed.list_services_response.service.map((each: any) => each.name);
    expect(names).toContain("scrip.voucher.v1.VoucherService");
    expect(names).toContain("grpc.health.v1.Health");
    expect(described.file_descriptor_response.file_descriptor_proto).toHaveLength(1);
    stream.end();
    reflection.close();
  }
});

/** A code of another project. */
async function foreignCode(): Promise<string> {
  const management = managementApi(stack);
  const { body } = await management.post("/management/v1/projects", { name: "other" });
  const { app_id: appId, app_token: appToken } = body["server_side_key"];
  const other = await serverApi({ ...stack, keys: { ...stack.keys, appId, appToken } });
  const code = newCode("FOREIGN");
  expect(
    (await other.post("/v1/vouchers", { code, type: "GIFT_VOUCHER", gift: { amount: 1 } })).status,
  ).toBe(200);
  return code;
}

function clientOf(service: any, name: string, token = tokenFor) {
  return async (method: string, request: object, key?: string) => {
    const metadata = await metadataFor(name, project, token);
    if (key !== undefined) metadata.set("x-scrip-idempotency-key", encodeURIComponent(key));
    return invoke({ service, name, method }, request, metadata);
  };
}

async function metadataFor(
  audience: string,
  inProject: string,
  token = tokenFor,
): Promise<grpc.Metadata> {
  const metadata = new grpc.Metadata();
  metadata.set("authorization", `Bearer ${await token(audience)}`);
  metadata.set("x-scrip-project", inProject);
  return metadata;
}

type Rpc = { readonly service: any; readonly name: string; readonly method: string };

function invoke({ service, name, method }: Rpc, request: object, metadata: grpc.Metadata) {
  const client = new service(addressOf(name), grpc.credentials.createInsecure());
  return new Promise<unknown>((resolve, reject) => {
    // The longest deadline that a service accepts.
    const deadline = Date.now() + 9_900;
    client[method](request, metadata, { deadline }, (error: unknown, response: unknown) => {
      client.close();
      if (error) reject(error);
      else resolve(response);
    });
  });
}

const addressOf = (name: string): string => new URL(stack.grpc[name] ?? "").host;

async function projectId(): Promise<string> {
  const client = new Postgres({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      "select project_id as id from gateway.project",
    );
    return rows[0]?.id ?? "";
  } finally {
    await client.end();
  }
}
