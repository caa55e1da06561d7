import { SignJWT, importJWK } from "jose";
import { describe, expect, test } from "vitest";

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

  test("is rejected after its expiry, and with too long a lifetime", async () => {
    const sign = async (issuedAt: number, expires: number) =>
      new SignJWT({ scope: "internal", projects: ["*"] })
        .setProtectedHeader({ alg: "EdDSA", kid: keys.signing.kid ?? "" })
        .setSubject("old")
        .setAudience("voucher")
        .setIssuedAt(issuedAt)
        .setExpirationTime(expires)
        .sign(await importJWK(keys.signing, "EdDSA"));
    const now = Math.floor(Date.now() / 1000);
    const expired = await sign(now - 120, now - 60);
    await expect(verify(`Bearer ${expired}`)).rejects.toMatchObject({ key: "unauthorized" });
    const ancient = await sign(now - 3600, now + 3600);
    await expect(verify(`Bearer ${ancient}`)).rejects.toMatchObject({ key: "unauthorized" });
    const lasting = await sign(now, now + 601);
    await expect(verify(`Bearer ${lasting}`)).rejects.toMatchObject({
      key: "unauthorized",
      options: { details: "The service token is valid for more than 600 seconds" },
    });
    expect(await verify(`Bearer ${await sign(now, now + 600)}`)).toMatchObject({ name: "old" });
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
