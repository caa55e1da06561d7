import { create } from "@bufbuild/protobuf";
import { KeySecretSchema, type ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { CreateProjectRequest } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import type { Handler } from "@scrip/rpc";

import { hashSecret, newSecret } from "../auth/secrets.ts";
import type { Deps } from "../deps.ts";
import type { ApiKey, KeyKind } from "../domain/api-key.ts";
import { MONDAY, type Project } from "../domain/project.ts";
import {
  parseCurrency,
  parseDomains,
  parseFeatures,
  parseTimeZone,
} from "../mapping/project-settings.ts";
import { codeConfigFromProto, projectToProto } from "../mapping/project.ts";
import { publishProjects } from "../projects/publish-projects.ts";
import { insertApiKey } from "../store/api-keys.ts";
import { insertProject } from "../store/projects.ts";

export const createProject =
  (deps: Deps): Handler<typeof ProjectService.method.createProject> =>
  async (request) => {
    const project = parse(request, deps.newId("proj"), new Date(deps.clock()));
    const server = newKey(deps, project, "server");
    const client = newKey(deps, project, "client");
    await deps.db.transaction(async (tx) => {
      await insertProject(tx, project);
      await insertApiKey(tx, server.key);
      await insertApiKey(tx, client.key);
      await publishProjects(tx, [{ ...project, deleted: false }]);
    });
    deps.onEvents();
    return projectToProto(project, {
      serverSideKey: toSecret(server),
      clientSideKey: toSecret(client),
    });
  };

type NewKey = { readonly key: ApiKey; readonly secret: string };

function newKey(deps: Deps, project: Project, kind: KeyKind): NewKey {
  const secret = newSecret("scrip_key_");
  const key: ApiKey = {
    id: deps.newId("app"),
    projectId: project.id,
    name: `${project.name} ${kind}`,
    kind,
    scopes: [],
    allowedIps: [],
    secretHash: hashSecret(secret),
    blocked: false,
    createdAt: project.createdAt,
    updatedAt: null,
  };
  return { key, secret };
}

const toSecret = ({ key, secret }: NewKey) =>
  create(KeySecretSchema, { appId: key.id, appToken: secret });

function parse(request: CreateProjectRequest, id: string, createdAt: Date): Project {
  const { currency } = request;
  return {
    id,
    version: 1n,
    name: request.name,
    description: request.description ?? null,
    timeZone: parseTimeZone(request.timezone ?? "UTC"),
    firstWeekday: request.firstWeekday ?? MONDAY,
    currency: currency === undefined ? null : parseCurrency(currency),
    dialCode: request.dialCode ?? null,
    caseSensitiveCodes: request.caseSensitiveCodes ?? true,
    defaultCodeConfig: codeConfigFromProto(request.defaultCodeConfig),
    clientTrustedDomains: parseDomains(request.clientTrustedDomains),
    clientFeatures: parseFeatures(request, []),
    sandbox: request.sandbox ?? false,
    sandboxNow: null,
    webhookVersion: request.webhookVersion ?? null,
    webhookEvents: [],
    hasEarningRules: false,
    cancelPendingPointsOnOrderCancel: request.cancelPendingPointsOnOrderCancel ?? false,
    apiVersion: request.apiVersion ?? null,
    createdAt,
    updatedAt: null,
  };
}
