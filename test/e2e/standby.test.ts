import { createDatabase, isUnavailable } from "@scrip/postgres";
import { startTcpProxy } from "@scrip/testing";
import { afterAll, describe, expect, test } from "vitest";

import { query } from "../load/postgres.ts";
import { type Json, newCode, serverApi } from "../stack/api.ts";
import { startComposition } from "../stack/compositions.ts";
import { ok, voucherBody } from "../stack/rule-builders.ts";
import { startStandbyPair } from "../stack/standby.ts";

const { primaryUrl, standbyUrl, ...servers } = await startStandbyPair();
const { hostname: host, port } = new URL(standbyUrl);
const proxy = await startTcpProxy({ host, port: Number(port) });
afterAll(() => proxy[Symbol.asyncDispose]());
const stack = await startComposition("distributed", {
  database: { url: primaryUrl, [Symbol.asyncDispose]: servers[Symbol.asyncDispose] },
  env: {
    SCRIP_REPLICA_URL: Object.assign(new URL(standbyUrl), { port: String(proxy.port) }).href,
  },
});
afterAll(() => stack[Symbol.asyncDispose]());

describe("lists and exports of a streaming standby", async () => {
  const api = await serverApi(stack);
  const create = async (): Promise<string> =>
    (await ok(api.post("/v1/vouchers", voucherBody({ redemption: { quantity: 1 } }))))["code"];
  const listedCodes = async (): Promise<readonly string[]> =>
    (await ok(api.get("/v1/vouchers?limit=100")))["vouchers"].map(({ code }: Json) => code);
  const startExport = async (): Promise<string> =>
    (await ok(api.post("/v1/exports", { exported_object: "voucher" })))["id"];
  const exported = async (id: string): Promise<string> => {
    const get = () => ok(api.get(`/v1/exports/${id}`));
    await expect.poll(async () => (await get())["status"]).toBe("DONE");
    const { pathname, search } = new URL((await get())["result"].url, stack.url);
    return (await fetch(stack.url + pathname + search)).text();
  };

  /** Repeated, because what is replayed then can cancel the statement itself. */
  const resume = () =>
    expect
      .poll(() =>
        query(standbyUrl, "select pg_wal_replay_resume()").then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);

  test("are as old as the standby, while decisions and single objects are not", async () => {
    const known = await create();
    await expect.poll(listedCodes).toContain(known);
    await query(standbyUrl, "select pg_wal_replay_pause()");
    try {
      await expect
        .poll(() => query(standbyUrl, "select pg_get_wal_replay_pause_state() as state"))
        .toEqual([{ state: "paused" }]);
      const created = await create();
      expect((await ok(api.get(`/v1/vouchers/${created}`)))["code"]).toBe(created);
      const redeem = (code: string) => api.post(`/v1/vouchers/${code}/redemption`, {});
      for (const code of [known, created]) {
        expect((await redeem(code)).status).toBe(200);
        const again = await redeem(code);
        expect([again.status, again.body["key"]]).toEqual([400, "quantity_exceeded"]);
      }
      const codes = await listedCodes();
      expect(codes).toContain(known);
      expect(codes).not.toContain(created);
      const file = await exported(await startExport());
      expect(file).toContain(known);
      expect(file).not.toContain(created);
      await resume();
      await expect.poll(listedCodes).toContain(created);
    } finally {
      await resume();
    }
  });

  test("fail and wait while the standby does not respond, and requests that change something do not", async () => {
    const code = await create();
    await expect.poll(listedCodes).toContain(code);
    await proxy.close();
    const list = await api.get("/v1/vouchers");
    expect([list.status, list.body["key"]]).toEqual([503, "service_unavailable"]);
    const id = await startExport();
    expect((await api.post(`/v1/vouchers/${code}/redemption`, {})).status).toBe(200);
    expect(await (await fetch(`${stack.url}/readyz`)).json()).toEqual({ status: "ready" });
    await proxy.open();
    await expect.poll(listedCodes).toContain(code);
    expect(await exported(id)).toContain(code);
  });

  test("are cancelled by a conflict with its recovery, which counts as unavailable", async () => {
    const db = createDatabase({
      url: primaryUrl,
      replicaUrl: standbyUrl,
      schema: "voucher",
      role: "scrip_voucher",
      poolSize: 2,
      statementTimeoutMs: 60_000,
      onError: () => {},
    });
    try {
      const slow = "select pg_sleep(60)";
      const projectId = newCode("proj");
      const list = db.replica?.inProject(projectId).query(slow) ?? Promise.resolve();
      const errors = Promise.all([
        errorOf(list),
        errorOf(readAll(db.bulk(projectId).copyCsv({ text: slow, values: [] }))),
      ]);
      await expect
        .poll(() =>
          query(
            standbyUrl,
            `select count(*)::int as n from pg_stat_activity where wait_event = 'PgSleep'`,
          ),
        )
        .toEqual([{ n: 2 }]);
      let haveEnded = false;
      void errors.then(() => (haveEnded = true));
      await query(primaryUrl, "create table conflict (n integer)");
      // Removes row versions that the snapshots of both could still see, as soon as no transaction of the primary sees them.
      await expect
        .poll(async () => {
          await query(primaryUrl, "insert into conflict values (1)");
          await query(primaryUrl, "delete from conflict");
          await query(primaryUrl, "vacuum conflict");
          return haveEnded;
        })
        .toBe(true);
      for (const error of await errors) {
        expect(error).toMatchObject({ cause: { code: "40001" } });
        expect(isUnavailable(error)).toBe(true);
      }
    } finally {
      await db.close();
    }
  });
});

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

async function readAll(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}
