import { readFile } from "node:fs/promises";

import { type ReceivedSpan, startSpanCollector } from "@scrip/testing";
import { afterAll, describe, expect, test, vi } from "vitest";

import { newCode, serverApi } from "../stack/api.ts";
import { ok, voucherBody } from "../stack/rule-builders.ts";
import { type Composition, COMPOSITIONS, startStack } from "../stack/stack.ts";

const WAIT = { timeout: 30_000, interval: 50 };
const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

/** Where a redemption is served, by the services that take part. */
const EXPECTED: Readonly<Record<Composition, { services: string[]; consumers: string[] }>> = {
  standalone: { services: ["scrip"], consumers: ["scrip"] },
  distributed: { services: ["gateway", "validation", "voucher"], consumers: ["campaign"] },
};

describe.each(COMPOSITIONS)("traces (%s)", async (composition) => {
  const collector = await startSpanCollector();
  afterAll(() => collector[Symbol.asyncDispose]());
  const stack = await startStack(composition, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: "parentbased_always_off",
    OTEL_BSP_SCHEDULE_DELAY: "100",
    SCRIP_LOG_LEVEL: "info",
  });
  afterAll(() => stack[Symbol.asyncDispose]());
  const api = await serverApi(stack);

  test("a redemption is one tree over all hops, and consumers of its event are linked to it", async () => {
    const code = newCode("TRACED");
    const customer = { source_id: newCode("ada") };
    await ok(api.post("/v1/vouchers", voucherBody({ code })));
    const traceparent = `00-${TRACE_ID}-${CALLER}-01`;
    const path = `/v1/vouchers/${code}/redemption`;
    await ok(api.post(path, { order: { amount: 10_000 }, customer }, { traceparent }));

    const isConsumer = ({ name }: ReceivedSpan): boolean => name.startsWith("process ");
    const { services, consumers } = EXPECTED[composition];
    await vi.waitFor(() => {
      const handlers = collector.spans.filter(isConsumer);
      // Each handling is a trace of its own, with its statements.
      const handled = new Set(handlers.map(({ traceId }) => traceId));
      const tree = collector.spans.filter(({ traceId }) => !handled.has(traceId));
      const ids = new Set([CALLER, ...tree.map(({ spanId }) => spanId)]);
      const names = tree.map(({ name }) => name);
      // The request of the only sampled caller; nothing else is exported.
      expect(new Set(tree.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
      expect(tree.filter(({ parentSpanId = "" }) => !ids.has(parentSpanId))).toEqual([]);
      expect(tree.filter(({ parentSpanId }) => parentSpanId === CALLER)).toEqual([
        expect.objectContaining({ name: "POST /v1/vouchers/{code}/redemption" }),
      ]);
      expect(names).toContain("scrip.voucher.v1.RedemptionService/CommitRedemptions");
      expect(tree.map(({ service }) => service)).toEqual(expect.arrayContaining(services));
      expect(handlers.map(({ name }) => name)).toContain("process scrip.redemptions.v1");
      expect(handlers.map(({ service }) => service)).toEqual(expect.arrayContaining(consumers));
      // Each statement of the commit belongs to the call that ran it.
      const commit = tree.find(({ name }) => /^write-(unlocked-)?commits$/.test(name));
      expect(commit?.attributes).toMatchObject({ "db.system.name": "postgresql" });
      const links = handlers.flatMap((handler) => handler.links ?? []);
      expect(
        links.filter(({ traceId, spanId }) => traceId !== TRACE_ID || !ids.has(spanId)),
      ).toEqual([]);
    }, WAIT);
    const exported = JSON.stringify(collector.spans);
    for (const secret of [code, customer.source_id, stack.keys.appToken]) {
      expect(exported).not.toContain(secret);
    }

    await vi.waitFor(async () => {
      const lines = (await readFile(stack.log, "utf8")).split("\n");
      const traced = lines.filter((line) => line.includes(`"trace_id":"${TRACE_ID}"`));
      expect(traced.join("\n")).toContain(`"route":"/v1/vouchers/{code}/redemption"`);
    }, WAIT);

    // A key and the audit log add savepoints: texts with several commands.
    const keyed = { traceparent, "Idempotency-Key": newCode("traced") };
    await ok(api.post("/v1/vouchers", voucherBody({ code: newCode("KEYED") }), keyed));
  });
});
