import { ApiError } from "@scrip/errors";
import type { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import { BodilessError } from "../domain/bodiless-error.ts";
import { endToken } from "../store/access-tokens.ts";

export const revokeToken =
  (deps: Deps): Handler<typeof TokenService.method.revokeToken> =>
  async ({ accessToken }, call) => {
    if (!accessToken) throw new ApiError("missing_parameters", { details: "Missing access_token" });
    const hash = hashSecret(accessToken);
    const live = await endToken(deps.db, call.project.id, hash);
    await deps.credentialCache.evictToken(hash);
    if (!live) throw new BodilessError("not_found");
    return { $typeName: "google.protobuf.Empty" };
  };
