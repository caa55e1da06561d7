import { adjustClock, currentTime } from "@scrip/clock";
import { SignJWT, importJWK } from "jose";
import { describe, expect, onTestFinished, test } from "vitest";

import {
  createTokenSource,
  createTokenVerifier,
  generateServiceKey,
  type ServiceClaims,
} from "./service-token.ts";

const keys = await generateServiceKey();
const claims: ServiceClaims = {
  name: "warehouse",
  internal: false,
  scopes: ["vouchers", "validations"],
  projects: ["proj_1"],
};
const verify = createTokenVerifier(keys, "voucher");

const signed = async (issuedAt: number, expires: number): Promise<string> =>
  new SignJWT({ scope: "internal", projects: ["*"] })
    .setProtectedHeader({ alg: "EdDSA", kid: keys.signing.kid ?? "" })
    .setSubject("old")
    .setAudience("voucher")
    .setIssuedAt(issuedAt)
    .setExpirationTime(Math.floor(expires))
    .sign(await importJWK(keys.signing, "EdDSA"));

describe("a service token", () => {
  test("names the caller, its scopes and its projects", async () => {
    const token = await createTokenSource(keys, claims)("voucher");
    expect(await verify(`Bearer ${token}`)).toEqual(claims);
  });

  test("is reused while fresh, one per audience", async () => {
    const source = createTokenSource(keys, claims);
    expect(await source("voucher")).toBe(await source("voucher"));
    expect(await source("voucher")).not.toBe(await source("campaign"));
  });

  test.each(["", "Bearer", "Bearer x.y.z", "Basic abc"])("is rejected as %j", async (header) => {
    await expect(verify(header)).rejects.toMatchObject({ key: "unauthorized" });
  });

  test("is rejected when missing, for another audience, or signed by an unknown key", async () => {
    await expect(verify(null)).rejects.toMatchObject({ key: "unauthorized" });
    const other = await createTokenSource(keys, claims)("campaign");
    await expect(verify(`Bearer ${other}`)).rejects.toMatchObject({ key: "unauthorized" });
    const stranger = await createTokenSource(await generateServiceKey(), claims)("voucher");
    await expect(verify(`Bearer ${stranger}`)).rejects.toMatchObject({ key: "unauthorized" });
  });

  test.each(["", "ware\0house", "line\nbreak", "x".repeat(201)])(
    "is rejected with the subject %j",
    async (name) => {
      const token = await createTokenSource(keys, { ...claims, name })("voucher");
      await expect(verify(`Bearer ${token}`)).rejects.toMatchObject({ key: "unauthorized" });
    },
  );

  test("is rejected after its expiry, and with too long a lifetime", async () => {
    const now = Math.floor(Date.now() / 1000);
    const expired = await signed(now - 120, now - 60);
    await expect(verify(`Bearer ${expired}`)).rejects.toMatchObject({ key: "unauthorized" });
    const ancient = await signed(now - 3600, now + 3600);
    await expect(verify(`Bearer ${ancient}`)).rejects.toMatchObject({ key: "unauthorized" });
    const lasting = await signed(now, now + 601);
    await expect(verify(`Bearer ${lasting}`)).rejects.toMatchObject({
      key: "unauthorized",
      options: { details: "The service token is valid for more than 600 seconds" },
    });
    expect(await verify(`Bearer ${await signed(now, now + 600)}`)).toMatchObject({ name: "old" });
  });

  test.each([
    [60, 66],
    [600, 606],
  ])(
    "of %d seconds that was verified before is rejected after %d seconds",
    async (valid, later) => {
      const start = currentTime();
      const setTime = (time: number) => adjustClock(() => Promise.resolve(time));
      onTestFinished(() => setTime(Date.now()));
      const now = Math.floor(start / 1000);
      const header = `Bearer ${await signed(now, now + valid)}`;
      const verifyCached = createTokenVerifier(keys, "voucher");
      for (const seconds of [0, valid - 1]) {
        await setTime(start + seconds * 1000);
        expect(await verifyCached(header)).toMatchObject({ name: "old" });
      }
      await setTime(start + later * 1000);
      await expect(verifyCached(header)).rejects.toMatchObject({ key: "unauthorized" });
    },
  );

  test("that was verified before is rejected once its key is no longer trusted", async () => {
    const next = await generateServiceKey();
    const live = { signing: keys.signing, trusted: keys.trusted };
    const verifyLive = createTokenVerifier(live, "voucher");
    const source = createTokenSource(live, claims);
    const header = `Bearer ${await source("voucher")}`;
    expect(await verifyLive(header)).toEqual(claims);
    live.trusted = { keys: [...keys.trusted.keys, ...next.trusted.keys] };
    expect(await verifyLive(header)).toEqual(claims);
    // Began with the old key, ends after its removal: not trusted from the cache either.
    const other = `Bearer ${await signed(Math.floor(Date.now() / 1000), Date.now() / 1000 + 30)}`;
    const underway = verifyLive(other);
    live.trusted = next.trusted;
    await underway.catch(() => {});
    for (const each of [header, other]) {
      await expect(verifyLive(each)).rejects.toMatchObject({ key: "unauthorized" });
    }
    // The source signs with the new key at once.
    live.signing = next.signing;
    expect(await verifyLive(`Bearer ${await source("voucher")}`)).toEqual(claims);
  });

  test("is trusted when signed by a replaced key that is still listed", async () => {
    const next = await generateServiceKey();
    const both = {
      signing: next.signing,
      trusted: { keys: [...keys.trusted.keys, ...next.trusted.keys] },
    };
    const verifyBoth = createTokenVerifier(both, "voucher");
    for (const source of [createTokenSource(keys, claims), createTokenSource(both, claims)]) {
      expect(await verifyBoth(`Bearer ${await source("voucher")}`)).toEqual(claims);
    }
  });
});
