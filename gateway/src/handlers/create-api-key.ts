import { invalidPayload, notFound } from "@scrip/errors";
import type { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret, newSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import type { ApiKey } from "../domain/api-key.ts";
import { parseAddresses, parseScopes } from "../mapping/project-settings.ts";
import { apiKeyToProto } from "../mapping/project.ts";
import { countApiKeys, insertApiKey } from "../store/api-keys.ts";
import { lockProject } from "../store/projects.ts";

/** Keys are listed without pagination. */
const MAX_KEYS = 1_000;

export const createApiKey =
  (deps: Deps): Handler<typeof ProjectService.method.createApiKey> =>
  async (request) => {
    const { projectId, name } = request;
    const kind = request.kind === "client" ? "client" : "server";
    const secret = newSecret("scrip_key_");
    const key: ApiKey = {
      id: deps.newId("app"),
      projectId,
      name,
      kind,
      scopes: parseScopes(kind, request.scopes),
      allowedIps: parseAddresses(request.allowedIps),
      secretHash: hashSecret(secret),
      blocked: false,
      createdAt: new Date(deps.clock()),
      updatedAt: null,
    };
    await deps.db.transaction(async (tx) => {
      if ((await lockProject(tx, projectId)) === undefined) throw notFound("project", projectId);
      if ((await countApiKeys(tx, projectId)) >= MAX_KEYS) {
        throw invalidPayload(`A project has at most ${MAX_KEYS} keys`);
      }
      await insertApiKey(tx, key);
    });
    return apiKeyToProto(key, secret);
  };
