import { ApiError } from "@scrip/errors";
import type { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import { findToken } from "../store/access-tokens.ts";

export const introspectToken =
  (deps: Deps): Handler<typeof TokenService.method.introspectToken> =>
  async ({ accessToken }, call) => {
    if (!accessToken) throw new ApiError("missing_parameters", { details: "Missing access_token" });
    const found = await findToken(deps.db, call.project.id, hashSecret(accessToken));
    const left = found === undefined ? 0 : found.expiresAt - deps.clock();
    const common = {
      $typeName: "scrip.gateway.v1.Token",
      accessToken,
      tokenType: "Bearer",
    } as const;
    if (found === undefined || left <= 0) {
      // The contract requires all fields, so they are present and empty
      // (docs/authentication.md#tokens).
      return { ...common, clientId: "", expiresAt: 0n, expiresIn: 0n, scope: "", active: false };
    }
    return {
      ...common,
      clientId: found.keyId,
      expiresAt: BigInt(Math.floor(found.expiresAt / 1_000)),
      expiresIn: BigInt(Math.floor(left / 1_000)),
      scope: found.scope,
      active: true,
    };
  };
