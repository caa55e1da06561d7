import { expect, test } from "vitest";

import { createMetrics } from "./metrics.ts";

test("shares a counter of one name within a process", async () => {
  const metrics = createMetrics({ withProcess: false });
  const options = { name: "redemptions_total", help: "Redemptions.", labels: ["outcome"] } as const;
  metrics.counter(options).inc({ outcome: "succeeded" });
  metrics.counter(options).inc({ outcome: "succeeded" }, 2);
  expect(await metrics.text()).toContain('redemptions_total{outcome="succeeded"} 3');
});

test("uses histogram buckets from 5 ms to 10 s by default", async () => {
  const metrics = createMetrics({ withProcess: false });
  metrics.histogram({ name: "call_seconds", help: "Calls." }).observe(0.02);
  metrics.histogram({ name: "batch_size", help: "Batches.", buckets: [1, 10] }).observe(7);
  const text = await metrics.text();
  expect(text).toContain('call_seconds_bucket{le="0.005"} 0');
  expect(text).toContain('call_seconds_bucket{le="0.025"} 1');
  expect(text).toContain('call_seconds_bucket{le="10"} 1');
  expect(text).toContain('batch_size_bucket{le="10"} 1');
  expect(text).not.toContain('batch_size_bucket{le="0.005"}');
});

test("reads gauges when fetched, and adds up the readers of one name", async () => {
  const metrics = createMetrics({ withProcess: false });
  let depth = 1;
  metrics.gauge({ name: "coalescer_depth", help: "Waiting calls.", read: () => depth });
  metrics.gauge({ name: "coalescer_depth", help: "Waiting calls.", read: () => 10 });
  depth = 5;
  expect(await metrics.text()).toContain("coalescer_depth 15");
});

test("reads a gauge for each value of a label, and drops those that no longer exist", async () => {
  const metrics = createMetrics({ withProcess: false });
  let depths = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  const read = async () => depths;
  metrics.gauges({ name: "queue_depth", help: "Waiting calls.", label: "queue", read });
  expect(await metrics.text()).toContain('queue_depth{queue="a"} 1');
  depths = new Map([["b", 3]]);
  const text = await metrics.text();
  expect(text).toContain('queue_depth{queue="b"} 3');
  expect(text).not.toContain('queue="a"');
});

test("separates the metrics of two processes", async () => {
  const [one, two] = [createMetrics({ withProcess: false }), createMetrics({ withProcess: false })];
  one.counter({ name: "calls_total", help: "Calls." }).inc();
  expect(await one.text()).toContain("calls_total 1");
  expect(await two.text()).not.toContain("calls_total");
});

test("includes the metrics of the process itself", async () => {
  expect(await createMetrics().text()).toContain("process_resident_memory_bytes");
});

test.each(["project_id", "code", "customer", "voucher_id"])("rejects the label %s", (label) => {
  const metrics = createMetrics({ withProcess: false });
  expect(() => metrics.counter({ name: "a_total", help: "A.", labels: [label] })).toThrow(
    /must not have the label/,
  );
});

test("rejects a name that another kind of metric has", () => {
  const metrics = createMetrics({ withProcess: false });
  metrics.counter({ name: "a_total", help: "A." });
  expect(() => metrics.histogram({ name: "a_total", help: "A." })).toThrow(/another kind/);
});
