import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { ConfigError } from "@scrip/config";
import { expect, onTestFinished, test } from "vitest";

import { followServiceKeys, readServiceKeys } from "./service-keys.ts";
import { generateServiceKey } from "./service-token.ts";

const one = await generateServiceKey();
const other = await generateServiceKey();

async function keyFiles(signing: string, trusted: string) {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-keys-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, jwks] = [path.join(folder, "key.json"), path.join(folder, "jwks.json")];
  await writeFile(key, signing);
  await writeFile(jwks, trusted);
  return { key, jwks, env: { SCRIP_SERVICE_KEY_FILE: key, SCRIP_SERVICE_JWKS_FILE: jwks } };
}

test("keys come from variables, or from files", async () => {
  const [signing, trusted] = [JSON.stringify(one.signing), JSON.stringify(one.trusted)];
  const { env } = await keyFiles(signing, trusted);
  for (const source of [{ SCRIP_SERVICE_KEY: signing, SCRIP_SERVICE_JWKS: trusted }, env]) {
    using keys = followServiceKeys(readServiceKeys(source), { info() {}, warn() {} });
    expect({ signing: keys.signing, trusted: keys.trusted }).toEqual(one);
  }
});

test("the mistakes of both keys are reported together, without their values", async () => {
  const { env } = await keyFiles(JSON.stringify(one.trusted), '{"keys": []}');
  for (const [source, expected] of [
    [
      {},
      /^SCRIP_SERVICE_KEY is missing: .*SCRIP_SERVICE_KEY_FILE.*\nSCRIP_SERVICE_JWKS is missing/,
    ],
    [
      { SCRIP_SERVICE_KEY: "{", SCRIP_SERVICE_JWKS: "{}" },
      /^SCRIP_SERVICE_KEY must be .*\nSCRIP_SERVICE_JWKS must be /,
    ],
    [env, /^SCRIP_SERVICE_KEY_FILE must be .*\nSCRIP_SERVICE_JWKS_FILE must be /],
    [{ ...env, SCRIP_SERVICE_KEY_FILE: "/nowhere" }, /it cannot be read \(ENOENT\)/],
  ] as const) {
    expect(() => readServiceKeys(source)).toThrow(ConfigError);
    expect(() => readServiceKeys(source)).toThrow(expected);
  }
});

test("changed files replace the keys, and broken ones do not", async () => {
  const files = await keyFiles(JSON.stringify(one.signing), JSON.stringify(one.trusted));
  const warnings: string[] = [];
  using keys = followServiceKeys(readServiceKeys(files.env), {
    info() {},
    warn: (_, message) => void warnings.push(message),
  });
  const unchanged = keys.trusted;
  await writeFile(files.jwks, JSON.stringify(other.trusted).slice(0, 40));
  await expect
    .poll(() => warnings)
    .toEqual(["service keys cannot be read again; the last ones stay"]);
  expect(keys.trusted).toBe(unchanged);
  await writeFile(files.jwks, JSON.stringify(other.trusted));
  await expect.poll(() => keys.trusted).toEqual(other.trusted);
  await writeFile(files.key, JSON.stringify(other.signing));
  await expect.poll(() => keys.signing).toEqual(other.signing);
  expect(warnings).toHaveLength(1);
});
