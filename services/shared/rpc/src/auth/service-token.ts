import { currentTime } from "@scrip/clock";
import { ApiError } from "@scrip/errors";
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  jwtVerify,
  SignJWT,
} from "jose";

/**
 * Authentication between services: every call carries a JWT signed with Ed25519, for one audience
 * and 60 seconds. Several trusted keys allow key rotation; both properties may change while the
 * process runs (`followServiceKeys`).
 */
export type ServiceKeys = {
  /** The private key that signs the calls of this process. */
  readonly signing: JWK;
  /** The trusted public keys. */
  readonly trusted: JSONWebKeySet;
};

export type ServiceClaims = {
  readonly name: string;
  /** Scrip's own services, which may call every RPC; others need the scopes of the public API. */
  readonly internal: boolean;
  readonly scopes: readonly string[];
  /** Projects that the caller may name, or "*". */
  readonly projects: readonly string[];
};

const LIFETIME_S = 60;
/** A token that claims a longer lifetime is rejected, so that a leaked one is soon worthless. */
const MAX_LIFETIME_S = 600;
const ALGORITHM = "EdDSA";

export async function generateServiceKey(): Promise<ServiceKeys> {
  const { privateKey, publicKey } = await generateKeyPair(ALGORITHM, {
    crv: "Ed25519",
    extractable: true,
  });
  const trusted = await exportJWK(publicKey);
  const kid = await calculateJwkThumbprint(trusted);
  return {
    signing: { ...(await exportJWK(privateKey)), kid },
    trusted: { keys: [{ ...trusted, kid }] },
  };
}

/**
 * Creates tokens for an audience, and reuses each for half its lifetime: signing costs more than a
 * call.
 */
export function createTokenSource(
  keys: ServiceKeys,
  claims: ServiceClaims,
): (audience: string) => Promise<string> {
  const cache = new Map<string, CachedToken>();
  return (audience) => {
    const now = currentTime();
    const { signing } = keys;
    const cached = cache.get(audience);
    if (cached !== undefined && isFresh(cached, now) && cached.signing === signing) {
      return cached.token;
    }
    const token = sign(signing, claims, audience);
    cache.set(audience, { token, signing, signedAt: now });
    return token;
  };
}

type CachedToken = {
  readonly token: Promise<string>;
  readonly signing: JWK;
  readonly signedAt: number;
};

/** A cached token whose time of signing is in the future was signed before the clock was set back; it is not used. */
const isFresh = ({ signedAt }: CachedToken, now: number): boolean =>
  signedAt <= now && now < signedAt + (LIFETIME_S * 1000) / 2;

async function sign(signing: JWK, claims: ServiceClaims, audience: string): Promise<string> {
  const issuedAt = Math.floor(currentTime() / 1_000);
  return new SignJWT({
    scope: claims.internal ? "internal" : claims.scopes.join(" "),
    projects: claims.projects,
  })
    .setProtectedHeader({ alg: ALGORITHM, ...(signing.kid !== undefined && { kid: signing.kid }) })
    .setSubject(claims.name)
    .setIssuer(claims.name)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_S)
    .sign(await importJWK(signing, ALGORITHM));
}

const CLOCK_TOLERANCE_S = 5;

/** Maximum number of cached tokens; the signature of each is verified once. */
const MAX_CACHED = 1_000;

export function createTokenVerifier(
  keys: ServiceKeys,
  audience: string,
): (authorization: string | null) => Promise<ServiceClaims> {
  let { trusted } = keys;
  let keySet = createLocalJWKSet(trusted);
  let verified = new Map<string, { readonly claims: ServiceClaims; readonly until: number }>();
  return async (authorization) => {
    const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
    if (token === undefined)
      throw new ApiError("unauthorized", { details: "A service token is required" });
    if (keys.trusted !== trusted) {
      // Tokens of a removed key are rejected from now on, also cached ones.
      ({ trusted } = keys);
      keySet = createLocalJWKSet(trusted);
      verified = new Map();
    }
    // A verification that began before such a change must not enter the new cache.
    const cache = verified;
    const cached = cache.get(token);
    if (cached !== undefined && cached.until > currentTime()) return cached.claims;
    const { payload } = await jwtVerify(token, keySet, {
      audience,
      algorithms: [ALGORITHM],
      requiredClaims: ["sub", "exp", "iat"],
      maxTokenAge: MAX_LIFETIME_S,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(currentTime()),
    }).catch((cause: unknown) => {
      throw new ApiError("unauthorized", { details: "The service token is not valid", cause });
    });
    const { exp = 0, iat = 0 } = payload;
    if (exp - iat > MAX_LIFETIME_S) {
      throw new ApiError("unauthorized", {
        details: `The service token is valid for more than ${MAX_LIFETIME_S} seconds`,
      });
    }
    const claims = claimsOf(payload);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(token, { claims, until: exp * 1000 });
    return claims;
  };
}

function claimsOf(payload: Record<string, unknown>): ServiceClaims {
  const scopes = typeof payload["scope"] === "string" ? payload["scope"].split(" ") : [];
  const projects = Array.isArray(payload["projects"]) ? payload["projects"].map(String) : [];
  const name = payload["sub"];
  // The name is stored and logged: control characters could break log lines, and PostgreSQL cannot store NUL.
  if (typeof name !== "string" || !/^\P{Cc}{1,200}$/u.test(name)) {
    throw new ApiError("unauthorized", {
      details:
        "The subject of the service token must have 1 to 200 characters, none of them a control character",
    });
  }
  return {
    name,
    internal: scopes.includes("internal"),
    scopes,
    projects,
  };
}
