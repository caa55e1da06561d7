import { notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { blockApiKey as block } from "../store/api-keys.ts";
import { toApiKeyMessage } from "./project-message.ts";

export const blockApiKey =
  (deps: Deps): Handler<typeof ProjectService.method.blockApiKey> =>
  async (ref) => {
    const key = await block(deps.db, ref, new Date(deps.clock()));
    deps.directory.forgetKey(ref.keyId);
    if (key === undefined) throw notFound("api_key", ref.keyId);
    return toApiKeyMessage(key);
  };
