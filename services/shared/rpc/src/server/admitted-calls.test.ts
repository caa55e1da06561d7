import { once } from "node:events";
import { connect } from "node:http2";

import { create } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import {
  GetVoucherRequestSchema,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createMetrics } from "@scrip/telemetry";
import { expect, test } from "vitest";

import { gatewayTokens, serveVouchers } from "../../test/voucher-server.ts";
import { createAdmission } from "../admission/admission.ts";
import { DEFAULT_ADMISSION } from "../admission/settings.ts";
import { createTokenSource, generateServiceKey } from "../auth/service-token.ts";
import { type Call, serviceCall } from "../call/call.ts";
import { invoke } from "../call/client.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";

const HEAVY = DEFAULT_ADMISSION.work;
const MIB = 1024 * 1024;

test("a caller holds a bounded number of bytes in unfinished messages, and others are served", async () => {
  const keys = await generateServiceKey();
  await using server = await serveVouchers({
    keys,
    handlers: { getVoucher: async () => create(VoucherSchema) },
  });
  const token = async (name: string): Promise<string> =>
    `Bearer ${await createTokenSource(keys, { name, internal: false, scopes: ["vouchers"], projects: ["p"] })("voucher")}`;
  const authorization = await token("attacker");
  // A session is bounded by itself.
  const sessions = Array.from({ length: 20 }, () => connect(server.url).on("error", () => {}));
  const unfinished = sessions.map((session) => {
    const stream = session.request({
      ":method": "POST",
      ":path": "/scrip.voucher.v1.VoucherService/GetVoucher",
      "content-type": "application/grpc+proto",
      te: "trailers",
      authorization,
    });
    stream.on("error", () => {});
    const status = once(stream, "response").then(([headers]) => String(headers["grpc-status"]));
    // The prefix announces 4 MiB; the last byte is not sent.
    const body = Buffer.alloc(5 + 4 * MIB - 1);
    body.writeUInt32BE(4 * MIB, 1);
    stream.write(body);
    return status;
  });

  // RESOURCE_EXHAUSTED
  expect(await Promise.any(unfinished)).toBe("8");

  const other = createServiceTransport({
    baseUrl: server.url,
    audience: "voucher",
    token: gatewayTokens(keys),
  });
  const request = create(GetVoucherRequestSchema, { code: "A" });
  await expect(
    invoke(other, VoucherService.method.getVoucher, request, serviceCall()),
  ).resolves.toBeDefined();
  for (const session of sessions) session.destroy();
});

test("gRPC calls wait for their turn, are rejected beyond the queue, and stop when their callers leave", async () => {
  const keys = await generateServiceKey();
  const metrics = createMetrics({ withProcess: false });
  const settings = { ...DEFAULT_ADMISSION, waitingWork: 4 * HEAVY };
  const gate = Promise.withResolvers<void>();
  const received: Call[] = [];
  const getVoucher = async (_request: object, call: Call) => {
    received.push(call);
    await call.admit?.(HEAVY);
    await gate.promise;
    return create(VoucherSchema);
  };
  await using server = await serveVouchers({
    keys,
    admission: createAdmission(settings, metrics),
    handlers: { getVoucher },
  });
  const transport = createServiceTransport({
    baseUrl: server.url,
    audience: "voucher",
    token: gatewayTokens(keys),
  });
  const leaving = new AbortController();
  const send = (signal?: AbortSignal): Promise<string> =>
    invoke(
      transport,
      VoucherService.method.getVoucher,
      create(GetVoucherRequestSchema, { code: "A" }),
      { ...serviceCall(), signal },
    ).then(
      () => "served",
      (error: unknown) => toErrorResponse(error, "").error.key,
    );

  const first = send(leaving.signal);
  await expect.poll(() => received.length).toBe(1);
  const others = [send(), send(), send(), send()];
  await expect.poll(() => received.length).toBe(5);
  // One runs, and half of the queue is for one project.
  await expect.poll(() => metrics.text()).toContain(`admission_heavy_waiting ${2 * HEAVY}`);
  expect(received[0]?.isAbandoned?.()).toBe(false);
  leaving.abort();
  await expect.poll(() => received[0]?.isAbandoned?.()).toBe(true);
  expect(await first).toBe("deadline_exceeded");
  gate.resolve();
  expect((await Promise.all(others)).toSorted()).toEqual([
    "served",
    "served",
    "too_many_requests",
    "too_many_requests",
  ]);
  await expect.poll(() => metrics.text()).toContain("admission_heavy_running 0");
});
