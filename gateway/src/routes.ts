import { keyedHandlers } from "@scrip/idempotency";
import { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
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

export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest);
  return [
    implement(TokenService, {
      createToken,
      introspectToken,
      revokeToken,
    }),
    implement(ProjectService, {
      createProject,
      listProjects,
      getProject,
      updateProject,
      deleteProject,
      setClock,
      createApiKey,
      listApiKeys,
      blockApiKey,
      regenerateApiKey,
      deleteApiKey,
    }),
    implement(MetadataSchemaService, {
      listMetadataSchemas,
      getMetadataSchema,
      createProjectMetadataSchema,
      listProjectMetadataSchemas,
      getProjectMetadataSchema,
      updateProjectMetadataSchema,
      deleteProjectMetadataSchema,
    }),
  ];
};
