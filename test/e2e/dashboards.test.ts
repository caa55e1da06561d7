import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { ROOT } from "../stack/process.ts";
import { sharedStack } from "../stack/stack.ts";

const MONITORING = path.join(ROOT, "deploy/helm/scrip/monitoring");

/** Of Prometheus itself, postgres_exporter, node_exporter and kube-state-metrics, and of `check-invariants --textfile`. */
const FOREIGN = new Set([
  "up",
  "invariant_violations",
  "invariants_checked_timestamp_seconds",
  "kube_job_failed",
  "kube_cronjob_status_last_successful_time",
  "pg_stat_activity_max_tx_duration",
  "pg_replication_slots_pg_wal_lsn_diff",
  "node_filesystem_avail_bytes",
  "node_filesystem_size_bytes",
]);

/** The expressions of the alerts and of all panels. */
function expressions(): readonly string[] {
  const dashboards = path.join(MONITORING, "dashboards");
  const panels = readdirSync(dashboards).flatMap((name) => {
    const text = readFileSync(path.join(dashboards, name), "utf8");
    return [...text.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g)].map(([, found = ""]) => found);
  });
  return [...panels, readFileSync(path.join(MONITORING, "alerts.yaml"), "utf8")];
}

/** Metrics have a label list, a range or a comparison behind them; functions have a parenthesis. */
const METRIC = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?=[{[)\s]|$)/g;
/** The names that `record` gives to expressions, labels in lists, and functions of the language. */
const NOT_METRICS = /scrip:\S+|(?:by|and|on) \([^)]*\)|\{[^}]*\}|#.*|histogram_quantile/g;

/** The type of each metric of the running processes, by its name. */
async function existingMetrics(): Promise<ReadonlyMap<string, string>> {
  const stack = await sharedStack("distributed");
  const texts = await Promise.all(
    Object.values(stack.metrics).map(async (url) => (await fetch(url)).text()),
  );
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
    ),
  );
}

test("every metric of the alerts and dashboards exists in a running process", async () => {
  const existing = new Set(
    [...(await existingMetrics())].flatMap(([name, type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
  const used = new Set(
    expressions().flatMap(
      (text) =>
        text
          .replaceAll(NOT_METRICS, (found) => (found.startsWith("{") ? "{" : " "))
          .match(METRIC) ?? [],
    ),
  );
  expect(used.size).toBeGreaterThan(20);
  expect([...used].filter((name) => !existing.has(name) && !FOREIGN.has(name))).toEqual([]);
});

test("the durations of requests have a bucket at each objective", async () => {
  const rules = readFileSync(path.join(MONITORING, "alerts.yaml"), "utf8");
  const objectives = [...rules.matchAll(/histogram_quantile\(.*\) > ([\d.]+)$/gm)];
  expect(objectives.length).toBeGreaterThan(1);
  const { metrics } = await sharedStack("distributed");
  const texts = await Promise.all(
    Object.values(metrics).map(async (url) => (await fetch(url)).text()),
  );
  for (const [, objective = ""] of objectives) {
    expect(texts.join("\n")).toMatch(
      new RegExp(`^http_request_duration_seconds_bucket\\{le="${objective}",`, "m"),
    );
  }
});

test("docs/operations.md describes every metric", async () => {
  const docs = readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
  const undocumented = [...(await existingMetrics()).keys()].filter((name) => {
    // Of Node itself, and those that share a row with another one: `…_waiting`.
    const names = [name, name.replace(/^.*_/, "…_"), name.replace(/_.*$/, "_…")];
    return !names.some((each) => docs.includes(`\`${each}\``));
  });
  expect(undocumented).toEqual([]);
});
