import { create } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import {
  GetVoucherRequestSchema,
  VoucherSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createMetrics } from "@scrip/telemetry";
import { expect, test } from "vitest";

import { createAdmission } from "../admission/admission.ts";
import { DEFAULT_ADMISSION } from "../admission/settings.ts";
import { createTokenSource, generateServiceKey } from "../auth/service-token.ts";
import { type Call, serviceCall } from "../call/call.ts";
import { invoke } from "../call/client.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";
import { serve } from "./serve.ts";

const HEAVY = DEFAULT_ADMISSION.work;

test("gRPC calls wait for their turn, are refused beyond the queue, and stop when their callers leave", async () => {
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
  await using server = await serve({
    host: "127.0.0.1",
    port: 0,
    services: [
      {
        name: "voucher",
        implementations: [{ service: VoucherService, handlers: { getVoucher } }],
        findProject: () => undefined,
        ready: async () => undefined,
        [Symbol.asyncDispose]: async () => {},
      },
    ],
    keys,
    admission: createAdmission(settings, metrics),
    onCall: () => {},
  });
  const transport = createServiceTransport({
    baseUrl: server.url,
    audience: "voucher",
    token: createTokenSource(keys, { name: "test", internal: true, scopes: [], projects: ["*"] }),
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
