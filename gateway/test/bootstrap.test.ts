import { emptyDatabase, migratedDatabase } from "@scrip/testing";
import { expect, test } from "vitest";

import { generateBootstrap } from "../src/bootstrap.ts";
import { readBootstrap, readGatewayConfig } from "../src/config.ts";
import { newToken } from "./builders.ts";
import { createTestService, startTestGateway } from "./deps.ts";

test("does not start without a project and keys, and names the missing variables", async () => {
  await using database = await migratedDatabase("gateway", "events");
  await expect(createTestService(database.url)).rejects.toThrow(
    /SCRIP_BOOTSTRAP_APP_ID.*SCRIP_BOOTSTRAP_CLIENT_TOKEN/,
  );
});

test("concurrent starts create one project", async () => {
  await using database = await emptyDatabase();
  const bootstrap = generateBootstrap();
  const services = await Promise.all(
    [1, 2, 3].map(() => createTestService(database.url, bootstrap)),
  );
  const { rows } = await services[0]!.db.query<{ projects: bigint; keys: bigint }>(
    "select (select count(*) from project) as projects, (select count(*) from api_key) as keys",
  );
  expect(rows[0]).toEqual({ projects: 1n, keys: 2n });
  for (const service of services) await service[Symbol.asyncDispose]();
});

test("only the start that created the project has its keys", async () => {
  await using database = await migratedDatabase("gateway", "events");
  const start = (bootstrap = generateBootstrap()) => createTestService(database.url, bootstrap);
  const own = generateBootstrap();
  await using first = await start(own);
  await using again = await start(own);
  await using stranger = await start();
  await using wrongSecret = await start({ ...own, appToken: "not-the-secret-of-this-key" });
  const known = [first, again, stranger, wrongSecret].map((each) => each.hasBootstrapKeys);
  expect(known).toEqual([true, true, false, false]);

  await using empty = await emptyDatabase();
  const atOnce = await Promise.all(
    [1, 2, 3].map(() => createTestService(empty.url, generateBootstrap())),
  );
  expect(atOnce.filter((each) => each.hasBootstrapKeys)).toHaveLength(1);
  for (const service of atOnce) await service[Symbol.asyncDispose]();
});

test("a later start needs no keys", async () => {
  await using database = await migratedDatabase("gateway", "events");
  const bootstrap = generateBootstrap();
  const first = await createTestService(database.url, bootstrap);
  await first[Symbol.asyncDispose]();
  const second = await createTestService(database.url);
  expect(await second.ready()).toBeUndefined();
  await second[Symbol.asyncDispose]();
});

test("the configured keys grant access to the first project", async () => {
  await using gateway = await startTestGateway({
    keys: { appId: "my-own-id", appToken: "my-own-secret-of-some-length" },
  });
  const key = { appId: "my-own-id", appToken: "my-own-secret-of-some-length" };
  expect(await newToken(gateway, key, "api")).toMatch(/^scrip_at_/);
});

const KEYS = {
  SCRIP_BOOTSTRAP_APP_ID: "server",
  SCRIP_BOOTSTRAP_APP_TOKEN: "0123456789abcdef-server",
  SCRIP_BOOTSTRAP_CLIENT_APP_ID: "client",
  SCRIP_BOOTSTRAP_CLIENT_TOKEN: "0123456789abcdef-client",
};

test("reads the first project from the environment", () => {
  expect(readBootstrap({})).toBeUndefined();
  expect(readBootstrap({ ...KEYS, SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "*, shop.example" })).toEqual({
    appId: "server",
    appToken: "0123456789abcdef-server",
    clientAppId: "client",
    clientToken: "0123456789abcdef-client",
    projectName: "Default project",
    timeZone: "UTC",
    trustedDomains: ["*", "shop.example"],
    sandbox: false,
  });
});

test.each([
  [{ ...KEYS, SCRIP_BOOTSTRAP_CLIENT_TOKEN: undefined }, /SCRIP_BOOTSTRAP_CLIENT_TOKEN is missing/],
  [{ ...KEYS, SCRIP_BOOTSTRAP_APP_TOKEN: "short" }, /SCRIP_BOOTSTRAP_APP_TOKEN must be/],
  [{ ...KEYS, SCRIP_BOOTSTRAP_TIME_ZONE: "Mars" }, /SCRIP_BOOTSTRAP_TIME_ZONE must be/],
  [{ ...KEYS, SCRIP_BOOTSTRAP_TRUSTED_DOMAINS: "a b" }, /SCRIP_BOOTSTRAP_TRUSTED_DOMAINS must/],
])("rejects an incomplete first project: %j", (env, message) => {
  expect(() => readBootstrap(env)).toThrow(message);
});

test("reports all configuration errors together, without secrets", () => {
  const env = { SCRIP_LIMIT_CALLS_PER_MINUTE: "many", SCRIP_MANAGEMENT_TOKEN: "short-secret" };
  const read = () => readGatewayConfig(env);
  expect(read).toThrow(/SCRIP_LIMIT_CALLS_PER_MINUTE must be/);
  expect(read).toThrow(/SCRIP_MANAGEMENT_ID is missing/);
  expect(read).toThrow(/SCRIP_MANAGEMENT_TOKEN must be/);
  expect(read).not.toThrow(/short-secret/);
});
