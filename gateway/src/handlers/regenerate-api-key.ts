import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret, newSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import { apiKeyToProto } from "../mapping/project.ts";
import { replaceSecret } from "../store/api-keys.ts";

export const regenerateApiKey =
  (deps: Deps): Handler<typeof ProjectService.method.regenerateApiKey> =>
  async (ref) => {
    const secret = newSecret("scrip_key_");
    const key = await replaceSecret(deps.db, ref, hashSecret(secret), new Date(deps.clock()));
    // The old secret becomes invalid immediately; existing tokens stay valid with the new one.
    await deps.credentialCache.evictKey(ref.keyId);
    if (key === undefined) throw notFound("api_key", ref.keyId);
    return apiKeyToProto(key, secret);
  };
