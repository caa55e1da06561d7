import { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import { implement, type Implementation } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { blockApiKey } from "./handlers/block-api-key.ts";
import { createApiKey } from "./handlers/create-api-key.ts";
import { createProjectMetadataSchema } from "./handlers/create-project-metadata-schema.ts";
import { createProject } from "./handlers/create-project.ts";
import { createToken } from "./handlers/create-token.ts";
import { deleteApiKey } from "./handlers/delete-api-key.ts";
import { deleteProjectMetadataSchema } from "./handlers/delete-project-metadata-schema.ts";
import { deleteProject } from "./handlers/delete-project.ts";
import { getMetadataSchema } from "./handlers/get-metadata-schema.ts";
import { getProjectMetadataSchema } from "./handlers/get-project-metadata-schema.ts";
import { getProject } from "./handlers/get-project.ts";
import { introspectToken } from "./handlers/introspect-token.ts";
import { listApiKeys } from "./handlers/list-api-keys.ts";
import { listMetadataSchemas } from "./handlers/list-metadata-schemas.ts";
import { listProjectMetadataSchemas } from "./handlers/list-project-metadata-schemas.ts";
import { listProjects } from "./handlers/list-projects.ts";
import { regenerateApiKey } from "./handlers/regenerate-api-key.ts";
import { revokeToken } from "./handlers/revoke-token.ts";
import { setClock } from "./handlers/set-clock.ts";
import { updateProjectMetadataSchema } from "./handlers/update-project-metadata-schema.ts";
import { updateProject } from "./handlers/update-project.ts";

export const routes = (deps: Deps): readonly Implementation[] => [
  implement(TokenService, {
    createToken: createToken(deps),
    introspectToken: introspectToken(deps),
    revokeToken: revokeToken(deps),
  }),
  implement(ProjectService, {
    createProject: createProject(deps),
    listProjects: listProjects(deps),
    getProject: getProject(deps),
    updateProject: updateProject(deps),
    deleteProject: deleteProject(deps),
    setClock: setClock(deps),
    createApiKey: createApiKey(deps),
    listApiKeys: listApiKeys(deps),
    blockApiKey: blockApiKey(deps),
    regenerateApiKey: regenerateApiKey(deps),
    deleteApiKey: deleteApiKey(deps),
  }),
  implement(MetadataSchemaService, {
    listMetadataSchemas: listMetadataSchemas(deps),
    getMetadataSchema: getMetadataSchema(deps),
    createProjectMetadataSchema: createProjectMetadataSchema(deps),
    listProjectMetadataSchemas: listProjectMetadataSchemas(deps),
    getProjectMetadataSchema: getProjectMetadataSchema(deps),
    updateProjectMetadataSchema: updateProjectMetadataSchema(deps),
    deleteProjectMetadataSchema: deleteProjectMetadataSchema(deps),
  }),
];
