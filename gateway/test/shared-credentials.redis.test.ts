import { once } from "node:events";

import { createRedis, type RedisClient } from "@scrip/redis";
import { createMetrics } from "@scrip/telemetry";
import { testRedis, type TestRedis } from "@scrip/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { createCredentialCache } from "../src/auth/credential-cache.ts";
import { fingerprint } from "../src/auth/secrets.ts";
import { createSharedCredentials, type SharedCredentials } from "../src/auth/shared-credentials.ts";
import { type KeyPair, management, newToken, tokenCall } from "./builders.ts";
import { startTestGateway, type TestGateway } from "./deps.ts";

const SECRET = "a secret of the gateways";
const OTHER_SECRET = "another secret";

let redis: TestRedis;
let gateway: TestGateway;
let client: RedisClient;
let impatient: RedisClient;

beforeAll(async () => {
  redis = await testRedis();
  gateway = await startTestGateway({ config: { redisUrl: redis.url }, sharedSecret: () => SECRET });
  impatient = await createRedis(redis.url, () => {});
  // On a busy machine Redis may take longer than requests wait for it.
  client = impatient.duplicate({ commandTimeout: 30_000 });
  client.on("error", () => {});
  await Promise.all([once(impatient, "ready"), once(client, "ready")]);
});

afterAll(async () => {
  impatient.disconnect();
  client.disconnect();
  await gateway[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

type ReplicaOptions = {
  readonly connection?: typeof client;
  readonly secret?: string;
  readonly clock?: () => number;
  readonly around?: (shared: SharedCredentials) => SharedCredentials;
};

/** A replica that gets no messages, so that it depends on what it finds in Redis. */
function newReplica({
  connection = client,
  secret = SECRET,
  clock = Date.now,
  around,
}: ReplicaOptions = {}) {
  const metrics = createMetrics({ withProcess: false });
  const credentialCache = createCredentialCache(gateway.service.db, clock, metrics);
  const shared = createSharedCredentials({
    redis: connection,
    secret: () => secret,
    clock,
    onError: () => {},
  });
  credentialCache.shareThrough(around?.(shared) ?? shared);
  const keyId = gateway.keys.appId;
  return {
    accepts: async (token: string, key = keyId): Promise<boolean> => {
      const found = await credentialCache.load(key, token, "normal");
      return found !== undefined && !found.hasEnded;
    },
    load: (token: string) => credentialCache.load(keyId, token, "normal"),
    credentialCache,
    lookups: async () => {
      const text = await metrics.text();
      const count = (source: string): number =>
        Number(
          new RegExp(`^token_lookups_total{source="${source}"} (\\d+)`, "m").exec(text)?.[1] ?? 0,
        );
      return { redis: count("redis"), database: count("database") };
    },
  };
}

/** The name under which a token is stored. */
const nameOf = (token: string, keyId = gateway.keys.appId): string =>
  `scrip:credentials:3:${fingerprint(token)}:${keyId}`;

/** A token that another replica has just looked up. */
async function sharedToken(key: KeyPair = gateway.keys): Promise<string> {
  const token = await newToken(gateway, key, "api");
  expect(await newReplica().accepts(token, key.appId)).toBe(true);
  await expect.poll(async () => client.exists(nameOf(token, key.appId))).toBe(1);
  return token;
}

async function newKey() {
  const { json } = await management(gateway, "GET", "/projects?limit=1");
  const path = `/projects/${json.data[0].id}/api-keys`;
  const { json: key } = await management(gateway, "POST", path, { name: "k", kind: "server" });
  return { appId: key.app_id, appToken: key.app_token, path: `${path}/${key.app_id}` };
}

describe("tokens in Redis", () => {
  test("cost the other replicas no database read, and authenticate alike", async () => {
    const token = await sharedToken();
    const replica = newReplica();
    const found = await replica.load(token);
    expect(await replica.lookups()).toEqual({ redis: 1, database: 0 });
    const alone = createCredentialCache(gateway.service.db, Date.now);
    const read = await alone.load(gateway.keys.appId, token, "normal");
    expect(found).toEqual({ ...read, trusts: expect.anything() });
    expect(found?.secretHash).toEqual(read?.secretHash);
  });

  test("live for five seconds, whichever replica reads them when", async () => {
    const token = await sharedToken();
    const ms = await client.pttl(nameOf(token));
    expect(ms).toBeGreaterThan(0);
    expect(ms).toBeLessThanOrEqual(5_000);
    let now = Date.now();
    const replica = newReplica({ clock: () => now });
    expect(await replica.accepts(token)).toBe(true);
    now += 5_000;
    expect(replica.credentialCache.cached(gateway.keys.appId, token, now)).toBeUndefined();
    expect(await replica.accepts(token)).toBe(true);
    expect(await replica.lookups()).toEqual({ redis: 1, database: 1 });
  });

  test("contain nothing that could be used to log in", async () => {
    const token = await sharedToken();
    const value = (await client.getBuffer(nameOf(token)))?.toString("latin1");
    expect(value).toMatch(/./);
    for (const text of [nameOf(token), value]) {
      expect(text).not.toContain(token);
      expect(text).not.toContain(gateway.keys.appToken);
    }
    expect(value).not.toContain(gateway.keys.appId);
    expect(value).not.toContain("proj_");
  });

  test("are ignored unless a gateway with the same secret wrote them under this name", async () => {
    const token = await sharedToken();
    const stranger = newReplica({ secret: OTHER_SECRET });
    expect(await stranger.accepts(token)).toBe(true);
    expect(await stranger.lookups()).toEqual({ redis: 0, database: 1 });

    const genuine = (await client.getBuffer(nameOf(await sharedToken()))) ?? Buffer.alloc(0);
    const invented = "scrip_at_never_issued";
    for (const value of [genuine, Buffer.from("x"), Buffer.alloc(100)]) {
      await client.set(nameOf(invented), value, "PX", 5_000);
      const replica = newReplica();
      expect(await replica.accepts(invented)).toBe(false);
      expect(await replica.lookups()).toEqual({ redis: 0, database: 1 });
    }
  });
});

test("a replica that noticed a change reads the database, also if Redis lacks the mark of the change", async () => {
  const token = await sharedToken();
  const replica = newReplica();
  expect(await replica.accepts(token)).toBe(true);
  replica.credentialCache.apply({ kind: "token", name: fingerprint(token) });
  expect(await replica.accepts(token)).toBe(true);
  expect(await replica.lookups()).toEqual({ redis: 1, database: 1 });
});

describe("a change reaches replicas that have cached nothing", () => {
  test("when a token is revoked", async () => {
    const token = await sharedToken();
    await tokenCall(gateway, "token/revoke", gateway.keys, { access_token: token });
    expect(await newReplica().accepts(token)).toBe(false);
  });

  test("when a key is blocked or deleted", async () => {
    for (const change of ["block", "delete"] as const) {
      const key = await newKey();
      const token = await sharedToken(key);
      if (change === "delete") await management(gateway, "DELETE", key.path);
      else await management(gateway, "POST", `${key.path}/block`);
      expect(await newReplica().accepts(token, key.appId)).toBe(false);
    }
  });

  test("when a project changes, and when it is deleted", async () => {
    const { json: project } = await management(gateway, "POST", "/projects", { name: "P" });
    const { app_id: appId, app_token: appToken } = project.server_side_key;
    const token = await sharedToken({ appId, appToken });
    await management(gateway, "PUT", `/projects/${project.id}`, { first_weekday: 0 });
    const replica = newReplica();
    const found = await replica.credentialCache.load(appId, token, "normal");
    expect(found?.project.firstWeekday).toBe(0);
    await management(gateway, "DELETE", `/projects/${project.id}`);
    expect(await newReplica().accepts(token, appId)).toBe(false);
  });

  test("also when a slow replica stores what it looked up before", async () => {
    const token = await newToken(gateway, gateway.keys, "api");
    const late: (() => void)[] = [];
    const slow = newReplica({
      around: (shared) => ({
        ...shared,
        store: (pair, entry) => void late.push(() => shared.store(pair, entry)),
      }),
    });
    expect(await slow.accepts(token)).toBe(true);
    await tokenCall(gateway, "token/revoke", gateway.keys, { access_token: token });
    for (const store of late) store();
    await expect.poll(async () => client.exists(nameOf(token))).toBe(1);
    expect(await newReplica().accepts(token)).toBe(false);
  });
});

test("tokens are looked up in the database while Redis does not respond or does not run", async () => {
  const token = await sharedToken();
  for (const [fail, mend] of [
    [async () => redis.freeze(), async () => redis.thaw()],
    [redis.kill, redis.restart],
  ] as const) {
    const replica = newReplica({ connection: impatient });
    await fail();
    expect(await replica.accepts(token)).toBe(true);
    expect(await replica.lookups()).toEqual({ redis: 0, database: 1 });
    await mend();
    await expect.poll(() => [client.status, impatient.status]).toEqual(["ready", "ready"]);
  }
});
