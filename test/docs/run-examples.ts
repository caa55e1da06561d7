import { setTimeout as sleep } from "node:timers/promises";

import type { Example, FormulaExample, HttpExample } from "./examples.ts";
import { differencesOf, fill, type Variables } from "./match.ts";

/** Headers with the credentials of one side of the API. */
export type Credentials = {
  readonly server: Readonly<Record<string, string>>;
  readonly client: Readonly<Record<string, string>>;
  readonly management: Readonly<Record<string, string>>;
};

export type Target = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly variables: Variables;
};

/** Runs the examples in order; returns the first failure, or `undefined`. */
export async function runExamples(
  examples: readonly Example[],
  target: Target,
): Promise<string | undefined> {
  for (const example of examples) {
    const problem = await runExample(example, target);
    if (problem !== undefined) return `line ${example.line}: ${problem}`;
  }
  return undefined;
}

/** What events cause follows within seconds, so a GET is repeated until its response is the expected one. */
const EVENTS_MS = 60_000;
const PAUSE_MS = 100;

async function runExample(example: Example, target: Target): Promise<string | undefined> {
  if (example.kind !== "http") return runFormula(example, target);
  const until = Date.now() + EVENTS_MS;
  let problem = await runHttp(example, target);
  while (problem !== undefined && example.method === "GET" && Date.now() < until) {
    await sleep(PAUSE_MS);
    problem = await runHttp(example, target);
  }
  return problem;
}

async function runHttp(example: HttpExample, target: Target): Promise<string | undefined> {
  const { url, variables } = target;
  const path = fill(example.path, variables);
  const body = fill(example.body, variables);
  const response = await fetch(url + path, {
    method: example.method,
    headers: {
      ...credentialsFor(path, target.credentials),
      ...(body !== "" && { "content-type": "application/json" }),
      ...mapValues(example.headers, (value) => fill(value, variables)),
    },
    ...(body !== "" && { body }),
  });
  const text = await response.text();
  const shown = `${example.method} ${path} returned ${response.status} ${text}`;
  if (response.status !== example.status) return `expected ${example.status}; ${shown}`;
  for (const [name, value] of Object.entries(example.responseHeaders)) {
    const actual = response.headers.get(name);
    const differences = differencesOf(value, actual ?? undefined, { variables, path: name });
    if (differences.length > 0) return `${differences.join("; ")}; ${shown}`;
  }
  if (example.response === undefined) return undefined;
  const expected: unknown = JSON.parse(example.response);
  const differences = differencesOf(expected, JSON.parse(text), { variables, path: "" });
  return differences.length > 0 ? `${differences.join("; ")}; ${shown}` : undefined;
}

function credentialsFor(path: string, { server, client, management }: Credentials) {
  if (path.startsWith("/management/")) return management;
  return path.startsWith("/client/") ? client : server;
}

const mapValues = (
  record: Readonly<Record<string, string>>,
  change: (value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

/** Runs a formula as the discount of a voucher: its result is the discount of the order. */
async function runFormula(example: FormulaExample, target: Target): Promise<string | undefined> {
  const input = JSON.parse(example.input) as Record<string, unknown>;
  const { discount, voucher, ...request } = input as Record<string, object | undefined>;
  const created = await post(target, "/v1/vouchers", {
    type: "DISCOUNT_VOUCHER",
    discount: { type: "AMOUNT", amount_off: 1, amount_off_formula: example.formula, ...discount },
    ...voucher,
  });
  const code = created["code"];
  if (typeof code !== "string") return `${example.formula}: ${JSON.stringify(created)}`;
  const validation = await post(target, `/v1/vouchers/${code}/validate`, {
    order: { amount: 100_000_000 },
    ...request,
  });
  const { is_dynamic: isDynamic } = (validation["discount"] ?? {}) as Record<string, unknown>;
  const { total_applied_discount_amount: off } = (validation["order"] ?? {}) as Record<
    string,
    unknown
  >;
  const actual = isDynamic === true ? String(Number(off) / 100) : "fallback";
  if (actual === example.result) return undefined;
  return `${example.formula} gave ${actual}, not ${example.result}: ${JSON.stringify(validation)}`;
}

async function post(
  { url, credentials }: Target,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...credentials.server, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}
