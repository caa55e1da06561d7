import assert from "node:assert/strict";

import { bindingsOf } from "@scrip/contract";
import type { Client } from "pg";

import { publicServices } from "../../gateway/src/public-services.ts";
import { type ApiResponse, createApi, inParallel, newCode } from "../stack/api.ts";
import { NO_CONNECTION, retryUnavailable } from "../stack/retry.ts";
import { ok } from "../stack/rule-builders.ts";
import { writingRequests } from "../stack/writing-requests.ts";
import type { Fault } from "./fault.ts";

const PAYLOADS = 500;
const WIDTH = 8;
/** Part of each payload: no statement may contain it. */
const MARK = "zq4711";
const BEFORE = [
  "'",
  '"',
  "\\'",
  "')",
  "'; ",
  "$$; ",
  "1; ",
  "%27 ",
  "../../",
  "${",
  "{{",
  "a\u2028",
];
const MIDDLE = [
  `or ${MARK}=${MARK}`,
  `select ${MARK}()`,
  `drop table ${MARK}`,
  `union select ${MARK} from pg_user`,
  `{"$ne": "${MARK}"}`,
  `7*7 ${MARK}`,
  `etc/${MARK}`,
  `copy ${MARK} to program 'id'`,
];
const AFTER = ["", " --", "; --", "/*", "}}", "$1", "%s%n", "`id`"];
const LEAKED =
  /SQLSTATE|syntax error|unterminated|relation "|column "|pg_catalog|node_modules|\.ts:\d/;

type Sent = { readonly name: string; readonly send: () => Promise<ApiResponse> };

export const hostilePayloads: Fault = {
  id: "F36",
  title:
    "500 payloads of SQL, templates and paths in every string of bodies, paths, queries and headers",
  criterion:
    "no internal error, no text of PostgreSQL; stored verbatim; no statement contains a part of a payload",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { statements: true },
  async run({ stack, shop: { api }, database }, { random, report }) {
    const one = (parts: readonly string[]): string =>
      parts[Math.floor(random() * parts.length)] ?? "";
    const payloads = Array.from(
      { length: PAYLOADS },
      () => `${one(BEFORE)}${one(MIDDLE)}${one(AFTER)}`,
    );
    let nth = 0;
    const next = (): string => payloads[(nth += 1) % PAYLOADS]!;
    const shapes = await countStatements(database);
    const requests: Sent[] = [...(await writes()), ...reads()];
    async function writes(): Promise<readonly Sent[]> {
      const valid = await writingRequests(stack);
      return valid.flatMap(({ rpc, method, path, headers, body }) =>
        pathsOfStrings(body).map((at) => {
          const client = createApi(stack.url, headers);
          const changed = replaced(body, at, next());
          const key = { "idempotency-key": newCode("key") };
          const send = (): Promise<ApiResponse> =>
            method === "POST" ? client.post(path, changed, key) : client.put(path, changed);
          return { name: `${rpc} ${at.join(".")}`, send };
        }),
      );
    }
    function reads(): readonly Sent[] {
      return bindingsOf(publicServices)
        .filter(({ httpMethod, side }) => httpMethod === "GET" && side === "server")
        .flatMap(({ path, method }) => {
          const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
          const named = [...method.input.fields.map(({ name }) => name), "order"];
          return [...inPath, ...named, "filters[code][conditions][$is][0]"].map((name) => {
            const value = encodeURIComponent(next());
            const target = path.replaceAll(/\{(\w+)\}/g, (_, other) =>
              other === name ? value : "x",
            );
            const url = inPath.includes(name)
              ? target
              : `${target}?${encodeURIComponent(name)}=${value}`;
            const headers = { ...api.headers, "x-request-id": encodeURIComponent(next()) };
            return { name: url, send: () => createApi(stack.url, headers).get(url) };
          });
        });
    }
    const failures: string[] = [];
    const statuses = new Map<number, number>();
    await inParallel(requests, WIDTH, async ({ name, send }) => {
      const { status, text } = await retried(send);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status >= 500 || LEAKED.test(text)) failures.push(`${name}: ${status} ${text}`);
    });
    const counted = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
    report(`${requests.length} strings: ${counted}`);
    await inParallel(payloads, WIDTH, async (text) => {
      const sourceId = newCode("customer") + text;
      const metadata = { [text]: text };
      const fields = { source_id: sourceId, name: text, description: text, metadata };
      const created = await ok(retried(() => api.post("/v1/customers", fields)));
      const path = `/v1/customers/${encodeURIComponent(sourceId)}`;
      const stored = await ok(retried(() => api.get(path)));
      assert.equal(stored["id"], created["id"]);
      for (const [name, value] of Object.entries(fields)) assert.deepEqual(stored[name], value);
    });
    const { rows } = await database.query<{ query: string }>(
      `select query from pg_stat_statements where query ilike '%' || $1 || '%'`,
      [MARK],
    );
    report(
      `${PAYLOADS} payloads stored verbatim; ${(await countStatements(database)) - shapes} statements were new, ${rows.length} contain a payload`,
    );
    assert.deepEqual(failures, [], "internal errors");
    assert.deepEqual(rows, [], "statements contain payloads");
  },
};

const retried = (send: () => Promise<ApiResponse>): Promise<ApiResponse> => {
  // An internal error is a result; only what a busy machine returns is repeated.
  let response = NO_CONNECTION;
  return retryUnavailable(async () => {
    response = await send();
    return response.status === 500 ? { ...response, status: 0 } : response;
  }).then(() => response);
};

async function countStatements(database: Client): Promise<number> {
  await database.query("create extension if not exists pg_stat_statements");
  const { rows } = await database.query<{ count: number }>(
    "select count(distinct queryid)::int as count from pg_stat_statements",
  );
  return rows[0]?.count ?? 0;
}

type Place = readonly (string | number)[];

/** Where a body has strings. */
function pathsOfStrings(value: unknown, at: Place = []): readonly Place[] {
  if (typeof value === "string") return [at];
  if (Array.isArray(value))
    return value.flatMap((each, index) => pathsOfStrings(each, [...at, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => pathsOfStrings(each, [...at, name]));
}

/** A copy with another string at one place. */
function replaced(value: unknown, [first, ...rest]: Place, text: string): unknown {
  if (first === undefined) return text;
  if (Array.isArray(value)) {
    return value.map((each, index) => (index === first ? replaced(each, rest, text) : each));
  }
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [first]: replaced(object[first], rest, text) };
}
