import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";
import { parse } from "yaml";

import { ROOT } from "../stack/process.ts";

const run = promisify(execFile);
const RULES = path.join(ROOT, "deploy/helm/scrip/monitoring/alerts.yaml");
const CASES = path.join(import.meta.dirname, "alerts.cases.yaml");

type Rules = { readonly groups: readonly { readonly rules: readonly { alert?: string }[] }[] };
type Cases = {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { alertname: string; exp_alerts: readonly unknown[] }[];
  }[];
};

const read = <Content>(file: string): Content => parse(readFileSync(file, "utf8")) as Content;

const alerts = read<Rules>(RULES).groups.flatMap(({ rules }) =>
  rules.flatMap(({ alert }) => (alert === undefined ? [] : [alert])),
);

test("alerts fire when they should, and not otherwise", async () => {
  const { stdout } = await run("promtool", ["test", "rules", CASES]);
  expect(stdout).toContain("SUCCESS");
});

test("a case shows each alert firing", () => {
  const checks = read<Cases>(CASES).tests.flatMap((each) => each.alert_rule_test);
  const firing = new Set(
    checks.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
  );
  expect(alerts.filter((alert) => !firing.has(alert))).toEqual([]);
});

test("docs/operations.md says for each alert what to do", () => {
  const text = readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
  expect(alerts.filter((alert) => !text.includes(`\`${alert}\``))).toEqual([]);
});
