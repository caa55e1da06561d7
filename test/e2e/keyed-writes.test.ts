import { setTimeout as sleep } from "node:timers/promises";

import { accessOf, bindingsOf } from "@scrip/contract";
import { Idempotency } from "@scrip/proto/scrip/options/v1/options_pb";
import { asAdmin, repetitions } from "@scrip/testing";
import { Client } from "pg";
import { afterAll, describe, expect, test, vi } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { inParallel, type Json, newCode } from "../stack/api.ts";
import { startStack } from "../stack/stack.ts";
import { type WritingRequest, writingRequests } from "../stack/writing-requests.ts";

/** Kills of the process; CRASH_ROUNDS sets more for the long form. */
const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? repetitions({ usual: 1, full: 2 }));
const WIDTH = 16;
const RETRY_TIMEOUT_MS = 30_000;

const stack = await startStack("standalone");
afterAll(() => stack[Symbol.asyncDispose]());

type Response = { readonly status: number; readonly text: string; readonly replayed: boolean };

async function send(request: WritingRequest, key: string, more: object = {}): Promise<Response> {
  const { method, path, headers, body } = request;
  const response = await fetch(stack.url + path, {
    method,
    headers: {
      ...headers,
      "content-type": "application/json",
      "idempotency-key": `${key} ${request.rpc}`,
    },
    body: JSON.stringify(withMore(body, more)),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    replayed: response.headers.get("idempotent-replayed") === "true",
  };
}

/** Some bodies are lists: more is added to their first item. */
const withMore = (body: Json | readonly Json[], more: object): unknown =>
  Array.isArray(body)
    ? (body as readonly Json[]).map((item, index) => (index === 0 ? { ...item, ...more } : item))
    : { ...(body as Json), ...more };

/** Whether a repetition returns the same response. */
const isFinal = ({ status, text }: Response): boolean =>
  status < 500 &&
  !text.includes('"idempotency_in_progress"') &&
  !text.includes('"multiple_requests"');

/** Repeats the request until its response is final. */
async function repeat(request: WritingRequest, key: string): Promise<Response> {
  const deadline = Date.now() + RETRY_TIMEOUT_MS;
  for (;;) {
    const response = await send(request, key).catch(() => undefined);
    if (response !== undefined && (isFinal(response) || Date.now() > deadline)) return response;
    await sleep(100);
  }
}

async function query(sql: string, values: readonly string[] = []): Promise<number> {
  const client = new Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(sql, [...values]);
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

async function expectOneEffect(requests: readonly WritingRequest[]): Promise<void> {
  const expected = requests.map(({ rpc, effect }) => effect && [rpc, effect.count]);
  // Async actions have their effect after the response, those of a killed process some seconds later.
  await vi.waitFor(
    async () => {
      const counted = await inParallel(requests, WIDTH, async ({ rpc, effect }) =>
        effect === undefined ? undefined : [rpc, await query(effect.sql, effect.values)],
      );
      expect(counted).toEqual(expected);
    },
    { timeout: 60_000, interval: 500 },
  );
  // A rule is never assigned to an object that does not exist.
  expect(
    await query(
      `select count(*)::int as count from validation.validation_rule_assignment
        where object_id not in (select id from voucher.voucher union select id from campaign.campaign
                                union select id from campaign.promotion_tier
                                union select id from loyalty.reward_assignment)`,
    ),
  ).toBe(0);
  expect(
    await query("select count(*)::int as count from campaign.campaign where turn is not null"),
  ).toBe(0);
}

describe("each RPC that writes", async () => {
  const requests = await writingRequests(stack);

  test("has a request in the table of this test", () => {
    const written = bindingsOf(publicServices)
      .filter(({ httpMethod }) => httpMethod !== "GET" && httpMethod !== "DELETE")
      .filter(({ method }) => accessOf(method)?.idempotency !== Idempotency.NONE)
      // Files are in imports.test.ts.
      .filter(({ method }) => accessOf(method)?.upload !== true)
      .map(({ method }) => `${method.parent.name}.${method.name}`);
    const covered = new Set(requests.map(({ rpc }) => rpc.split(" ")[0]));
    expect([...new Set(written)].filter((rpc) => !covered.has(rpc))).toEqual([]);
  });

  test("has one effect for concurrent duplicates, and a byte-equal replay", async () => {
    const key = newCode("key");
    await inParallel(requests, WIDTH, async (request) => {
      const together = await inParallel([1, 2, 3], 3, () => send(request, key));
      const first = await repeat(request, key);
      expect([first.status, first.text], request.rpc).toEqual([
        [202, 204].includes(first.status) ? first.status : 200,
        first.text,
      ]);
      for (const response of together.filter(isFinal)) {
        expect(response.text, request.rpc).toBe(first.text);
      }
      const again = await send(request, key);
      expect(again, request.rpc).toEqual({ ...first, replayed: true });
      const other = await send(request, key, { another: true });
      expect([other.status, other.text], request.rpc).toEqual([
        422,
        expect.stringContaining("idempotency_key_reused"),
      ]);
    });
    await expectOneEffect(requests);
  }, 90_000);
});

/** Ends the sessions of all processes, as a crash of Postgres does. */
const endSessions = (): Promise<number> =>
  query(
    `select count(pg_terminate_backend(pid))::int as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );

const CRASHES = [
  ...Array.from({ length: ROUNDS }, (_, at) => ["the process is killed", at] as const),
  ["Postgres ends all sessions", ROUNDS] as const,
];

test.each(CRASHES)(
  "each RPC that writes has one effect and one response when %s (%i)",
  async (crash) => {
    const requests = await writingRequests(stack);
    const key = newCode("crash");
    const started = requests.map(async (request) => {
      await sleep(Math.random() * 250);
      return send(request, key).catch(() => undefined);
    });
    await sleep(50 + Math.random() * 250);
    await (crash === "the process is killed" ? stack.crash() : endSessions());
    const acknowledged = await Promise.all(started);

    await expectOneResponse(requests, key, acknowledged);
    await expectOneEffect(requests);
  },
  150_000,
);

/** Repeats each request until its response is final: it is the one that was acknowledged, and that is replayed. */
async function expectOneResponse(
  requests: readonly WritingRequest[],
  key: string,
  acknowledged: readonly (Response | undefined)[],
): Promise<void> {
  await inParallel([...requests.entries()], WIDTH, async ([at, request]) => {
    const first = await repeat(request, key);
    expect([first.status, first.text], request.rpc).toEqual([
      [202, 204].includes(first.status) ? first.status : 200,
      first.text,
    ]);
    const before = acknowledged[at];
    if (before !== undefined && isFinal(before)) expect(before.text, request.rpc).toBe(first.text);
    expect(await send(request, key), request.rpc).toEqual({ ...first, replayed: true });
  });
}

const FULL_DISK_ATTEMPTS = 4;

test("each RPC that writes has one effect and one response when the disk is full", async () => {
  const requests = await writingRequests(stack);
  const key = newCode("full");
  const responses: Response[] = [];
  const acknowledged = await onFullDisk(() =>
    inParallel(requests, WIDTH, async (request) => {
      for (let attempt = 1; ; attempt += 1) {
        const response = await send(request, key);
        responses.push(response);
        if (isFinal(response) || attempt === FULL_DISK_ATTEMPTS) return response;
      }
    }),
  );
  const statuses = new Set(responses.map(({ status }) => status));
  expect(statuses).toContain(200);
  expect(statuses).toContain(503);
  expect(statuses).not.toContain(500);
  await expectOneResponse(requests, key, acknowledged);
  await expectOneEffect(requests);
}, 150_000);

/** While `work` runs, writing statements of all services fail at random, as those that need new disk space do. */
const onFullDisk = <Result>(work: () => Promise<Result>): Promise<Result> =>
  asAdmin(stack.databaseUrl, async (client) => {
    await client.query(
      `create function public.fail_without_space() returns trigger language plpgsql as $$
       begin
         if random() < 0.2 then
           raise 'could not extend file: No space left on device' using errcode = 'disk_full';
         end if;
         return null;
       end $$`,
    );
    const { rows } = await client.query<{ readonly name: string }>(
      `select oid::regclass::text as name from pg_class
        where relkind in ('r', 'p') and not relispartition
          and relnamespace::regnamespace::text in ('campaign', 'export', 'gateway', 'loyalty', 'validation', 'voucher')`,
    );
    for (const { name } of rows) {
      await client.query(
        `create trigger full_disk before insert or update on ${name}
           for each statement execute function public.fail_without_space()`,
      );
    }
    try {
      return await work();
    } finally {
      await client.query("drop function public.fail_without_space() cascade");
    }
  });
