import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { apiKeyToProto } from "../mapping/project.ts";
import { blockApiKey as block } from "../store/api-keys.ts";

export const blockApiKey =
  (deps: Deps): Handler<typeof ProjectService.method.blockApiKey> =>
  async (ref) => {
    const key = await block(deps.db, ref, new Date(deps.clock()));
    await deps.credentialCache.evictKey(ref.keyId);
    if (key === undefined) throw notFound("api_key", ref.keyId);
    return apiKeyToProto(key);
  };
