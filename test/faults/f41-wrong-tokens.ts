import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";

import { type Api, createApi, inParallel, managementApi, serverApi } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import type { FaultContext, Fault } from "./fault.ts";
import type { Installation } from "./installation.ts";
import { type Pairs, timePairs, welch } from "./welch.ts";

const WRONG_TOKENS = 10_000;
const WIDTH = 8;
/** Fewer than the wrong tokens of an address, and more than those that are timed with a key. */
const FAILED_LOGINS_PER_MINUTE = 5_000;
const PAIRS_OF_KEY = 2_000;
const SHORT_PAIRS = 2_000;
const FULL_PAIRS = 20_000;
/** Of Welch's t. */
const MAX_T = 4.5;
/** The characters that are wrong in a token that is nearly right. */
const WRONG_CHARACTERS = 6;
const NORMAL_EVERY = 50;
const PATH = "/v1/vouchers?limit=1";
const PREFIX = "scrip_at_";
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export const wrongTokens: Fault = {
  id: "F41",
  title: "10,000 wrong tokens, and malformed requests of tokens",
  criterion:
    "each is rejected with 400, 401, 413, 415 or 429, and others are served; times do not depend on how much of a token is right (Welch's t below 4.5); no token is logged",
  inEveryRun: true,
  buses: ["postgres"],
  setup: {
    env: {
      SCRIP_TRUSTED_PROXIES: "1",
      SCRIP_LIMIT_FAILED_LOGINS_PER_MINUTE: String(FAILED_LOGINS_PER_MINUTE),
    },
  },
  async run({ stack, shop: { api } }, context) {
    const secrets = secretsOf(api);
    await guessTokens({ stack, api, secrets }, context);
    await requestMalformed({ stack, api, secrets }, context);
    for (const name of ["token", "secret"] as const) {
      const times = await timeGuesses({ stack, secrets, name }, context);
      const t = welch(times);
      context.report(
        `${name}: ${times.pairs} pairs, nearly right ${times.near.mean.toFixed(3)} ms, wrong ${times.far.mean.toFixed(3)} ms, t ${t.toFixed(2)}`,
      );
      assert(Math.abs(t) < MAX_T, `the time depends on how much of a ${name} is right`);
    }
    const log = await readFile(stack.log, "utf8");
    for (const each of secrets) assert(!log.includes(each), "a token is in the log");
    context.report(`none of ${secrets.length} tokens and secrets is in the log`);
  },
};

type Attack = {
  readonly stack: Installation["stack"];
  readonly api: Api;
  /** What no log may contain. */
  readonly secrets: string[];
};

const tokenIn = ({ headers }: Api): string => (headers["authorization"] ?? "").split(" ")[1] ?? "";
const secretIn = ({ headers }: Api): string => headers["x-app-token"] ?? "";
const secretsOf = (api: Api): string[] => [tokenIn(api), secretIn(api)];

const textOf = (length: number, random: () => number): string =>
  Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join("");

async function guessTokens(
  { stack, api, secrets }: Attack,
  { random, report }: FaultContext,
): Promise<void> {
  const statuses = new Map<number, number>();
  let served = 0;
  await inParallel([...Array(WRONG_TOKENS).keys()], WIDTH, async (nth) => {
    const guess = PREFIX + textOf(tokenIn(api).length - PREFIX.length, random);
    if (nth % 1_000 === 0) secrets.push(guess);
    const headers = { authorization: `Bearer ${guess}`, "x-forwarded-for": "198.51.100.1" };
    const { status } = await createApi(stack.url, { ...api.headers, ...headers }).get(PATH);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (nth % NORMAL_EVERY !== 0) return;
    await ok(api.get(PATH));
    served += 1;
  });
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`);
  report(`${WRONG_TOKENS} wrong tokens: ${counts.join(", ")}; ${served} other requests served`);
  assert.deepEqual(new Set(statuses.keys()), new Set([401, 429]));
}

async function requestMalformed(
  { stack, api, secrets }: Attack,
  { report }: FaultContext,
): Promise<void> {
  const grant = "grant_type=client_credentials";
  const scopes = Array.from({ length: 10_000 }, () => "vouchers").join("+");
  const cases: readonly (readonly [string, number, string])[] = [
    ["comma", 400, `${grant}&scope=vouchers,campaigns`],
    ["unknown scope", 400, `${grant}&scope=everything`],
    ["10,000 scopes", 413, `${grant}&scope=${scopes}`],
    ["two scopes", 400, `${grant}&scope=vouchers&scope=campaigns`],
    ["two grant types", 400, `${grant}&${grant}&scope=vouchers`],
    ["1 MiB", 413, `${grant}&scope=api&x=${"a".repeat(1_048_576)}`],
    ["JSON", 415, JSON.stringify({ grant_type: "client_credentials", scope: "api" })],
    ["no form", 400, "\u0000\uFFFD&&=&=="],
  ];
  const seen: string[] = [];
  for (const [name, expected, body] of cases) {
    const type = name === "JSON" ? "application/json" : "application/x-www-form-urlencoded";
    const response = await fetch(`${stack.url}/v1/oauth/token`, {
      method: "POST",
      headers: {
        "x-app-id": api.headers["x-app-id"] ?? "",
        "x-app-token": secretIn(api),
        "content-type": type,
      },
      body,
    });
    const text = await response.text();
    assert.equal(response.status, expected, `${name}: ${text}`);
    for (const each of secrets) assert(!text.includes(each), `${name}: a token is in the response`);
    seen.push(`${name} ${response.status}`);
  }
  report(`requests of tokens: ${seen.join(", ")}`);
}

/** Guesses of equal form: all characters but the last are right, or none is. */
async function timeGuesses(
  {
    stack,
    secrets,
    name,
  }: Pick<Attack, "stack" | "secrets"> & { readonly name: "token" | "secret" },
  { full, random }: FaultContext,
): Promise<Pairs> {
  let nth = 0;
  let key: Api | undefined;
  return timePairs(full ? FULL_PAIRS : SHORT_PAIRS, random, async (isNear, pair) => {
    if (key === undefined || pair % PAIRS_OF_KEY === 0) {
      key = await newKey(stack);
      secrets.push(...secretsOf(key));
    }
    const valid = name === "token" ? tokenIn(key) : secretIn(key);
    const wrong = isNear ? WRONG_CHARACTERS : valid.length - PREFIX.length;
    const guess = valid.slice(0, -wrong) + textOf(wrong, random);
    nth += 1;
    const sender = createApi(stack.url, {
      ...key.headers,
      ...(name === "token" ? { authorization: `Bearer ${guess}` } : { "x-app-token": guess }),
      // The throttle of an address would be measured otherwise.
      "x-forwarded-for": `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}`,
    });
    const startedAt = performance.now();
    const { status } = await sender.get(PATH);
    const ms = performance.now() - startedAt;
    assert.equal(status, 401);
    return ms;
  });
}

/** A key of a project of its own, whose failed logins are counted by themselves. */
async function newKey(stack: Installation["stack"]): Promise<Api> {
  const project = await ok(
    managementApi(stack).post("/management/v1/projects", { name: "guessed" }),
  );
  const { app_id: appId, app_token: appToken } = project["server_side_key"];
  return serverApi({ ...stack, keys: { ...stack.keys, appId, appToken } });
}
