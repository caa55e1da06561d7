import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteApiKey as remove } from "../store/api-keys.ts";

export const deleteApiKey =
  (deps: Deps): Handler<typeof ProjectService.method.deleteApiKey> =>
  async (ref) => {
    const removed = await remove(deps.db, ref);
    await deps.credentialCache.evictKey(ref.keyId);
    if (!removed) throw notFound("api_key", ref.keyId);
    return { $typeName: "google.protobuf.Empty" };
  };
