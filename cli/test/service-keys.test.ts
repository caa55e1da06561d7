import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { readGatewayConfig } from "@scrip/gateway/config";
import {
  createTokenVerifier,
  generateServiceKey,
  readServiceKeys,
  type ServiceKeys,
} from "@scrip/rpc";
import { expect, test } from "vitest";

import { scrip } from "./installation.ts";

const NOWHERE = { SCRIP_DATA_DIR: "/nonexistent" };
const TOKEN = [
  "service-token",
  "--caller",
  "warehouse",
  "--audience",
  "voucher",
  "--project",
  "proj_1",
  "proj_2",
  "--scope",
  "vouchers",
  "redemptions",
];

const keysOf = (json: Record<string, unknown>): ServiceKeys =>
  ({ signing: json["SCRIP_SERVICE_KEY"], trusted: json["SCRIP_SERVICE_JWKS"] }) as ServiceKeys;

test("creates a token that its audience trusts, and no other service", async () => {
  const { json } = await scrip(NOWHERE, "service-key", "--json");
  const env = {
    ...NOWHERE,
    SCRIP_SERVICE_KEY: JSON.stringify(json.SCRIP_SERVICE_KEY),
    SCRIP_SERVICE_JWKS: JSON.stringify(json.SCRIP_SERVICE_JWKS),
  };
  const { out } = await scrip(env, ...TOKEN);
  const header = `Bearer ${out.trim()}`;
  expect(await createTokenVerifier(keysOf(json), "voucher")(header)).toEqual({
    name: "warehouse",
    internal: false,
    scopes: ["vouchers", "redemptions"],
    projects: ["proj_1", "proj_2"],
  });
  await expect(createTokenVerifier(keysOf(json), "campaign")(header)).rejects.toMatchObject({
    key: "unauthorized",
  });
});

test("prints the key as variables, and its public part without the secret", async () => {
  const { out } = await scrip(NOWHERE, "service-key");
  const [, signing = "", trusted = ""] =
    /^SCRIP_SERVICE_KEY='(.+)'\nSCRIP_SERVICE_JWKS='(.+)'\n$/.exec(out) ?? [];
  const secret: string = JSON.parse(signing).d;
  expect(secret.length).toBeGreaterThan(20);
  expect(trusted).not.toContain(secret);
});

test("signs with the keys of the data folder when no variables are set", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-cli-"));
  try {
    const serviceKeys = await generateServiceKey();
    await writeFile(path.join(folder, "secrets.json"), JSON.stringify({ serviceKeys }));
    const { out } = await scrip({ SCRIP_DATA_DIR: folder }, ...TOKEN);
    const claims = await createTokenVerifier(serviceKeys, "voucher")(`Bearer ${out.trim()}`);
    expect(claims.name).toBe("warehouse");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("explains which keys are missing", async () => {
  expect(await scrip(NOWHERE, ...TOKEN)).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("SCRIP_SERVICE_KEY is not set"),
  });
});

test.each([
  ["audience", "voucher", "Allowed choices are campaign, export, loyalty, validation, voucher."],
  ["scope", "redemptions", "Allowed choices are api, assets,"],
])(
  "rejects a token for an unknown %s, and lists the known ones",
  async (option, known, choices) => {
    const args = TOKEN.map((arg) => (arg === known ? "bogus" : arg));
    const rejected = await scrip(NOWHERE, ...args);
    expect(rejected).toMatchObject({ exitCode: 2, out: "" });
    expect(rejected.errors).toContain(
      `--${option} <${option === "scope" ? "scope..." : "service"}>`,
    );
    expect(rejected.errors).toContain(choices);
  },
);

test("prints all secrets of an installation, as containers read a file of variables", async () => {
  const { out } = await scrip(NOWHERE, "secrets");
  const env = Object.fromEntries(
    out
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const { http, bootstrap } = readGatewayConfig(env);
  expect([http.management.id, bootstrap?.appToken]).toEqual([
    env["SCRIP_MANAGEMENT_ID"],
    env["SCRIP_BOOTSTRAP_APP_TOKEN"],
  ]);
  const [key] = readServiceKeys(env).trusted.value.keys;
  expect(readServiceKeys(env).signing.value.kid).toBe(key?.kid);
  expect([env["SCRIP_ASSET_SECRET"], env["SCRIP_TRACKING_SECRET"]]).toEqual([
    expect.stringMatching(/^[\w-]{43}$/),
    expect.stringMatching(/^[\w-]{43}$/),
  ]);
  const again = await scrip(NOWHERE, "secrets");
  expect(again.out).not.toContain(env["SCRIP_ASSET_SECRET"]);
});
