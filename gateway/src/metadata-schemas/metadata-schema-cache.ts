import type { Schemas } from "@scrip/metadata";
import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
} from "@scrip/postgres";

import { findSchemasOfProjects } from "../store/metadata-schemas.ts";

/** The metadata schemas of a project by related object; undefined where it has none. */
export type FindSchemas = (projectId: string) => Schemas | undefined | Promise<Schemas | undefined>;

const MAX_PROJECTS = 10_000;

/** All schemas of a project form one cache entry, also when there are none. */
const ALL = "";

/** Cached in the process, so that requests of projects without schemas need no query. */
export function createMetadataSchemaCache(
  db: Queryable,
  versions: DefinitionVersions,
): FindSchemas {
  const cache: DefinitionCache<Schemas> = createDefinitionCache<Schemas>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) =>
      (await findSchemasOfProjects(db, keys)).map(
        (schemas) => schemas && new Map(schemas.map((schema) => [schema.relatedObject, schema])),
      ),
  });
  return (projectId) => cache.get(projectId, ALL);
}
