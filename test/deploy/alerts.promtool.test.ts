import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { type Binding, bindingsOf } from "@scrip/contract";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { publicServices } from "../../gateway/src/public-services.ts";
import { ROOT } from "../stack/process.ts";

const run = promisify(execFile);
const RULES = path.join(ROOT, "deploy/helm/scrip/monitoring/alerts.yaml");
const CASES = ["alerts.cases.yaml", "alerts.long-cases.yaml"].map((name) =>
  path.join(import.meta.dirname, name),
);

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
  const { stdout } = await run("promtool", ["test", "rules", ...CASES]);
  expect(stdout.match(/SUCCESS/g)).toHaveLength(CASES.length);
});

test("a case shows each alert firing", () => {
  const cases = CASES.flatMap((file) => read<Cases>(file).tests);
  const checks = cases.flatMap((each) => each.alert_rule_test);
  const firing = new Set(
    checks.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname),
  );
  expect(alerts.filter((alert) => !firing.has(alert))).toEqual([]);
});

test("docs/operations.md says for each alert what to do", () => {
  const text = readFileSync(path.join(ROOT, "docs/operations.md"), "utf8");
  expect(alerts.filter((alert) => !text.includes(`\`${alert}\``))).toEqual([]);
});

/** Routes by the objective that they are part of. RPCs of other names, such as qualifications, have none. */
const kindOf = ({ method }: Binding): "redemption" | "rollback" | "validation" | undefined =>
  method.name.startsWith("Redeem")
    ? "redemption"
    : method.name.startsWith("Rollback")
      ? "rollback"
      : method.name.startsWith("Validate")
        ? "validation"
        : undefined;

/** The selectors of requests in the alerts and dashboards. */
const SELECTOR = /http_request_duration_seconds_\w+\{method=(~?)"([^"]+)", route=~"([^"]+)"/g;

function selectors(): readonly { readonly method: RegExp; readonly route: RegExp }[] {
  const text = [RULES, path.join(path.dirname(RULES), "dashboards/api.json")]
    .map((file) => readFileSync(file, "utf8").replaceAll(String.raw`\"`, '"'))
    .join("\n");
  return [...text.matchAll(SELECTOR)].map(([, , method = "", route = ""]) => ({
    method: new RegExp(`^(?:${method})$`),
    route: new RegExp(`^(?:${route})$`),
  }));
}

test("the objectives include all routes of redemptions or of validations, and no others", () => {
  const bindings = bindingsOf(publicServices);
  const found = selectors().map(({ method, route }) =>
    bindings.filter((each) => method.test(each.httpMethod) && route.test(each.path)),
  );
  const routesOf = (kinds: readonly (string | undefined)[]) =>
    bindings.filter((each) => kinds.includes(kindOf(each)));
  const sets = [["redemption"], ["redemption", "rollback"], ["validation"]].map(routesOf);
  expect(sets).not.toContainEqual([]);
  expect(found.length).toBeGreaterThan(15);
  const nameOf = ({ httpMethod, path: template }: Binding) => `${httpMethod} ${template}`;
  for (const each of found)
    expect(sets.map((set) => set.map(nameOf))).toContainEqual(each.map(nameOf));
});
