import type { IncomingHttpHeaders } from "node:http";

import { ApiError } from "@scrip/errors";

import type { CredentialCache } from "./credential-cache.ts";
import type { Principal } from "./principal.ts";
import { hashSecret, secretMatches } from "./secrets.ts";

/** Credentials for the management endpoints of the installation. */
export type ManagementCredentials = { readonly id: string; readonly token: string };

/** Counts failed credentials per address; throws `too_many_requests` once there were too many. */
export type FailedLoginThrottle = {
  check(address: string): Promise<void>;
  count(address: string): void;
};

export type Authenticator = {
  /** Requires X-App-Id, X-App-Token and the bearer token (docs/authentication.md#credentials). */
  server(headers: IncomingHttpHeaders, address: string): Principal | Promise<Principal>;
  client(headers: IncomingHttpHeaders, address: string): Principal | Promise<Principal>;
  /** Requires X-App-Id and X-App-Token only, for the token endpoints. */
  keyOnly(headers: IncomingHttpHeaders, address: string): Promise<Principal>;
  management(headers: IncomingHttpHeaders, address: string): Promise<void>;
};

/** Longer than every valid credential; longer values are rejected without a lookup. */
const MAX_CREDENTIAL = 512;

export type AuthenticatorOptions = {
  readonly credentialCache: CredentialCache;
  readonly management: ManagementCredentials;
  readonly throttle: FailedLoginThrottle;
  readonly clock: () => number;
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { credentialCache, throttle } = options;
  const managementHash = hashSecret(join(options.management));
  const withToken = tokenAuthenticator(options);
  return {
    server: (headers, address) =>
      withToken(
        {
          side: "server",
          keyId: headers["x-app-id"],
          secret: headers["x-app-token"],
          token: bearer(headers.authorization),
        },
        address,
      ),
    client: (headers, address) =>
      withToken(
        {
          side: "client",
          keyId: headers["x-client-application-id"],
          secret: headers["x-client-token"],
          token: bearer(headers.authorization),
        },
        address,
      ),
    keyOnly: async (headers, address) => {
      await throttle.check(address);
      const keyId = headers["x-app-id"];
      const secret = headers["x-app-token"];
      if (!isCredential(keyId) || !isCredential(secret)) throw unauthorized(throttle, address);
      const found = await credentialCache.loadKey(keyId);
      if (found === undefined || !secretMatches(secret, found.secretHash)) {
        throw unauthorized(throttle, address);
      }
      return fromAllowedAddress(found, address);
    },
    management: async (headers, address) => {
      await throttle.check(address);
      const id = headers["x-management-id"];
      const token = headers["x-management-token"];
      const right =
        isCredential(id) &&
        isCredential(token) &&
        secretMatches(join({ id, token }), managementHash);
      if (!right) throw unauthorized(throttle, address);
    },
  };
}

type PresentedCredentials = {
  readonly side: Principal["kind"];
  readonly keyId: unknown;
  readonly secret: unknown;
  readonly token: string | undefined;
};

/** Returns cached principals synchronously, which covers nearly all requests. */
function tokenAuthenticator({ credentialCache, throttle, clock }: AuthenticatorOptions) {
  return (given: PresentedCredentials, address: string): Principal | Promise<Principal> => {
    const { side, keyId, secret, token } = given;
    const reject = (): never => {
      throw unauthorized(throttle, address);
    };
    if (!isCredential(keyId) || !isCredential(secret) || !isCredential(token)) {
      return throttled(reject, throttle, address);
    }
    const known = credentialCache.cached(keyId, token, clock());
    if (known !== undefined && isValid(known, side, secret))
      return fromAllowedAddress(known, address);
    const load = async (): Promise<Principal> => {
      const found = await credentialCache.load(keyId, token);
      if (found === undefined || !isValid(found, side, secret)) return reject();
      return fromAllowedAddress(found, address);
    };
    return throttled(load, throttle, address);
  };
}

/** A cache miss costs a lookup, so the throttle runs first. */
async function throttled<T>(
  work: () => T | Promise<T>,
  throttle: FailedLoginThrottle,
  address: string,
): Promise<T> {
  await throttle.check(address);
  return work();
}

/** Whether key, secret and token fit together on this side. */
function isValid(principal: Principal, side: Principal["kind"], secret: string): boolean {
  // Client-side callers may use tokens that a server key requested for them.
  const ownToken = principal.tokenKeyId === principal.keyId || side === "client";
  return principal.kind === side && ownToken && secretMatches(secret, principal.secretHash);
}

function fromAllowedAddress(principal: Principal, address: string): Principal {
  if (principal.allowedFrom === undefined || principal.allowedFrom(address)) return principal;
  throw new ApiError("forbidden", { details: `Address ${address} is not allowed` });
}

/** All invalid credentials get the same error, so that it reveals nothing about them. */
function unauthorized(throttle: FailedLoginThrottle, address: string): ApiError {
  throttle.count(address);
  return new ApiError("unauthorized");
}

const isCredential = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_CREDENTIAL;

const join = ({ id, token }: ManagementCredentials): string => `${id}\n${token}`;

const SCHEME = "bearer ";

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  return authorization.slice(SCHEME.length).trim();
}
