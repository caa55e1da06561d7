import type { IncomingHttpHeaders } from "node:http";

import { ApiError } from "@scrip/errors";

import type { CredentialCache } from "./credential-cache.ts";
import type { LookupLane } from "./credential-lookups.ts";
import type { FailedLoginThrottle } from "./failed-login-throttle.ts";
import type { Principal } from "./principal.ts";
import { hashSecret, secretMatches } from "./secrets.ts";

/** Credentials for the management endpoints of the installation. */
export type ManagementCredentials = { readonly id: string; readonly token: string };

export type Authenticator = {
  /** Requires X-App-Id, X-App-Token and the bearer token (docs/authentication.md#credentials). */
  server(headers: IncomingHttpHeaders, address: string): Principal | Promise<Principal>;
  client(headers: IncomingHttpHeaders, address: string): Principal | Promise<Principal>;
  /** The principal that `server` would return without a lookup; undefined otherwise. Counts no failed login. */
  cachedServer(
    headers: IncomingHttpHeaders,
    request: { readonly address: string },
  ): Principal | undefined;
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
  readonly laneOf: (address: string, keyId: string) => Promise<LookupLane>;
  readonly clock: () => number;
};

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { credentialCache, throttle, laneOf } = options;
  const managementHash = hashSecret(join(options.management));
  const withToken = tokenAuthenticator(options);
  return {
    server: (headers, address) => withToken.authenticate(serverCredentials(headers), address),
    cachedServer: (headers, request) => {
      const found = withToken.findCached(serverCredentials(headers));
      return found !== undefined && mayEnter(found, request) ? found : undefined;
    },
    client: (headers, address) =>
      withToken.authenticate(
        {
          side: "client",
          keyId: credential(headers["x-client-application-id"]),
          secret: credential(headers["x-client-token"]),
          token: credential(bearer(headers.authorization)),
        },
        address,
      ),
    keyOnly: async (headers, address) => {
      const keyId = credential(headers["x-app-id"]);
      const secret = credential(headers["x-app-token"]);
      if (keyId === undefined || secret === undefined) throw await throttle(address, keyId);
      const lane = await laneOf(address, keyId);
      const found = await credentialCache.loadKey(keyId, lane);
      if (found === undefined || !secretMatches(secret, found.secretHash)) {
        throw await throttle(address, keyId);
      }
      return fromAllowedAddress(found, address);
    },
    management: async (headers, address) => {
      const id = credential(headers["x-management-id"]);
      const token = credential(headers["x-management-token"]);
      const isKnown =
        id !== undefined &&
        token !== undefined &&
        secretMatches(join({ id, token }), managementHash);
      if (!isKnown) throw await throttle(address, id);
    },
  };
}

type PresentedCredentials = {
  readonly side: Principal["kind"];
  readonly keyId: string | undefined;
  readonly secret: string | undefined;
  readonly token: string | undefined;
};

const serverCredentials = (headers: IncomingHttpHeaders): PresentedCredentials => ({
  side: "server",
  keyId: credential(headers["x-app-id"]),
  secret: credential(headers["x-app-token"]),
  token: credential(bearer(headers.authorization)),
});

function tokenAuthenticator({ credentialCache, throttle, laneOf, clock }: AuthenticatorOptions) {
  const findCached = ({ side, keyId, secret, token }: PresentedCredentials) => {
    if (keyId === undefined || secret === undefined || token === undefined) return undefined;
    const cached = credentialCache.cached(keyId, token, clock());
    return cached !== undefined && isValid(cached, side, secret) ? cached : undefined;
  };
  /** Returns cached principals synchronously, which covers nearly all requests. */
  const authenticate = (
    presented: PresentedCredentials,
    address: string,
  ): Principal | Promise<Principal> => {
    const cached = findCached(presented);
    if (cached !== undefined) return accept(cached, address);
    const { side, keyId, secret, token } = presented;
    const reject = async (): Promise<never> => {
      throw await throttle(address, keyId);
    };
    if (keyId === undefined || secret === undefined || token === undefined) return reject();
    const load = async (): Promise<Principal> => {
      const found = await credentialCache.load(keyId, token, await laneOf(address, keyId));
      if (found === undefined || !isValid(found, side, secret)) return reject();
      return accept(found, address);
    };
    return load();
  };
  return { findCached, authenticate };
}

/** Whether key, secret and token fit together on this side. */
function isValid(principal: Principal, side: Principal["kind"], secret: string): boolean {
  // Client-side callers may use tokens that a server key requested for them.
  const ownToken = principal.tokenKeyId === principal.keyId || side === "client";
  return principal.kind === side && ownToken && secretMatches(secret, principal.secretHash);
}

/** A token that has ended is rejected but not counted: its caller once had it, and does not guess. */
function accept(principal: Principal, address: string): Principal {
  if (principal.hasEnded) throw new ApiError("unauthorized");
  return fromAllowedAddress(principal, address);
}

/** Reads the address only when the key limits it: it costs a look at the headers. */
const isAllowedFrom = (
  { allowedFrom }: Principal,
  request: { readonly address: string },
): boolean => allowedFrom === undefined || allowedFrom(request.address);

const mayEnter = (principal: Principal, request: { readonly address: string }): boolean =>
  !principal.hasEnded && isAllowedFrom(principal, request);

function fromAllowedAddress(principal: Principal, address: string): Principal {
  if (isAllowedFrom(principal, { address })) return principal;
  throw new ApiError("forbidden", { details: `Address ${address} is not allowed` });
}

/** A header that can be a credential; undefined for anything else. */
const credential = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" && value.length <= MAX_CREDENTIAL ? value : undefined;

const join = ({ id, token }: ManagementCredentials): string => `${id}\n${token}`;

const SCHEME = "bearer ";

function bearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  if (authorization.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  return authorization.slice(SCHEME.length).trim();
}
