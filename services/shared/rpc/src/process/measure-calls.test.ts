import { createMetrics } from "@scrip/telemetry";
import { expect, test } from "vitest";

import { measureCalls } from "./measure-calls.ts";

test("measures calls by method, and distinguishes errors of the caller from failures", async () => {
  const metrics = createMetrics({ withProcess: false });
  const measure = measureCalls(metrics);
  const call = {
    service: "scrip.voucher.v1.VoucherService",
    caller: "gateway",
    requestId: "req_1",
  };
  const get = { ...call, method: "GetVoucher" };
  measure({ ...get, durationMs: 20 });
  measure({ ...get, durationMs: 30 });
  measure({ ...get, durationMs: 1, key: "not_found" });
  measure({ ...get, durationMs: 1, key: "service_unavailable" });
  measure({ ...get, durationMs: 1, key: "internal_error", cause: new Error("a bug") });
  measure({ ...call, method: "CreateVoucher", durationMs: 1 });
  const lines = (await metrics.text())
    .split("\n")
    .filter((line) => /^rpc_request_duration_seconds_(count|sum)/.test(line));
  const labelsOf = (method: string, outcome: string) =>
    `{service="scrip.voucher.v1.VoucherService",method="${method}",outcome="${outcome}"}`;
  expect(lines.toSorted()).toEqual(
    [
      `rpc_request_duration_seconds_count${labelsOf("GetVoucher", "ok")} 2`,
      `rpc_request_duration_seconds_sum${labelsOf("GetVoucher", "ok")} 0.05`,
      `rpc_request_duration_seconds_count${labelsOf("GetVoucher", "rejected")} 1`,
      `rpc_request_duration_seconds_sum${labelsOf("GetVoucher", "rejected")} 0.001`,
      `rpc_request_duration_seconds_count${labelsOf("GetVoucher", "failed")} 2`,
      `rpc_request_duration_seconds_sum${labelsOf("GetVoucher", "failed")} 0.002`,
      `rpc_request_duration_seconds_count${labelsOf("CreateVoucher", "ok")} 1`,
      `rpc_request_duration_seconds_sum${labelsOf("CreateVoucher", "ok")} 0.001`,
    ].toSorted(),
  );
});
