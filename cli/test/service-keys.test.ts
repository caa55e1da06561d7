import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createTokenVerifier, generateServiceKey, type ServiceKeys } from "@scrip/rpc";
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

test("a token made with the printed key is believed by the service it is for, and no other", async () => {
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

test("the key is printed as variables, its public part without the secret", async () => {
  const { out } = await scrip(NOWHERE, "service-key");
  const [, signing = "", trusted = ""] =
    /^SCRIP_SERVICE_KEY='(.+)'\nSCRIP_SERVICE_JWKS='(.+)'\n$/.exec(out) ?? [];
  const secret: string = JSON.parse(signing).d;
  expect(secret.length).toBeGreaterThan(20);
  expect(trusted).not.toContain(secret);
});

test("without variables the keys of the data folder sign", async () => {
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

test("without any keys the command says what it lacks", async () => {
  expect(await scrip(NOWHERE, ...TOKEN)).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("SCRIP_SERVICE_KEY is not known"),
  });
});
