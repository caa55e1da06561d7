import { ApiError } from "@scrip/errors";
import type { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret, newSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import { grantScopes } from "../domain/scope.ts";
import { insertToken } from "../store/access-tokens.ts";
import { findKey } from "../store/credentials.ts";

/** Live tokens per project; the oldest is deleted first. */
const MAX_LIVE_TOKENS = 1_000;

export const createToken =
  (deps: Deps): Handler<typeof TokenService.method.createToken> =>
  async (request, call) => {
    const requested = parseRequest(request);
    // Bypasses the cache: a key that another replica blocked must not get a token.
    const found = await findKey(deps.db, call.caller.id);
    if (found === undefined) throw new ApiError("unauthorized");
    const scopes = grantScopes(found.key, requested);
    if (scopes === undefined) {
      throw new ApiError("invalid_scope", { message: `Invalid scope: ${requested}` });
    }

    const secret = newSecret("scrip_at_");
    const now = deps.clock();
    const token = {
      hash: hashSecret(secret),
      projectId: found.project.id,
      keyId: found.key.id,
      scope: scopes.join(" "),
      expiresAt: now + deps.tokenSeconds * 1_000,
      secretHash: found.key.secretHash,
    };
    const evicted = await deps.db.transaction((tx) => insertToken(tx, token, MAX_LIVE_TOKENS));
    if (evicted === undefined) throw new ApiError("unauthorized");
    await Promise.all(evicted.map((hash) => deps.credentialCache.evictToken(hash)));

    return {
      $typeName: "scrip.gateway.v1.Token",
      accessToken: secret,
      clientId: token.keyId,
      expiresAt: BigInt(Math.floor(token.expiresAt / 1_000)),
      expiresIn: BigInt(deps.tokenSeconds),
      scope: token.scope,
      tokenType: "Bearer",
    };
  };

function parseRequest(request: {
  readonly grantType?: string | undefined;
  readonly scope?: string | undefined;
}): string {
  const { grantType, scope } = request;
  const missing = [...(grantType ? [] : ["grant_type"]), ...(scope ? [] : ["scope"])];
  if (!grantType || !scope) {
    throw new ApiError("missing_parameters", { details: `Missing ${missing.join(", ")}` });
  }
  if (grantType !== "client_credentials") throw new ApiError("invalid_grant_type");
  return scope;
}
