import { invalidPayload, notFound } from "@scrip/errors";
import type { Definitions, MetadataSchema } from "@scrip/metadata";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { mergeDefinitions, objectTypesOf } from "../domain/metadata-schema.ts";
import { listMetadataSchemas } from "../store/metadata-schemas.ts";
import { lockProject } from "../store/projects.ts";

/** The resource type in error details. */
export const RESOURCE = "metadata schema";

/** Changes schemas under the lock of the project, so that references between them stay valid. */
export function editSchemas<T>(
  deps: Pick<Deps, "definitions">,
  projectId: string,
  work: (tx: Queryable, schemas: readonly MetadataSchema[]) => Promise<T>,
): Promise<T> {
  return deps.definitions.write(projectId, async (tx) => {
    if ((await lockProject(tx, projectId)) === undefined) throw notFound("project", projectId);
    return work(tx, await listMetadataSchemas(tx, projectId));
  });
}

export function mergedDefinitions(stored: Definitions, sent: Definitions): Definitions {
  const outcome = mergeDefinitions(stored, sent);
  if ("fault" in outcome) throw invalidPayload(outcome.fault);
  return outcome.merged;
}

/** Nested values must refer to an existing schema; a schema may refer to itself. */
export function rejectUnknownObjectTypes(
  { relatedObject, properties }: Pick<MetadataSchema, "relatedObject" | "properties">,
  schemas: readonly MetadataSchema[],
): void {
  const known = new Set([relatedObject, ...schemas.map((schema) => schema.relatedObject)]);
  const unknown = objectTypesOf(properties).find((name) => !known.has(name));
  if (unknown !== undefined) throw notFound(RESOURCE, unknown);
}
