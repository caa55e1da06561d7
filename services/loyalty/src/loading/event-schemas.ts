import { createDefinitionCache, type DefinitionVersions, type Queryable } from "@scrip/postgres";

import { type EventSchemaRow, findProjectEventSchemas } from "../store/custom-event-schemas.ts";

/** The custom event schemas of a project by name; empty for a project without schemas. */
export type EventSchemas = (projectId: string) => Promise<ReadonlyMap<string, EventSchemaRow>>;

const MAX_PROJECTS = 5_000;
const NO_SCHEMAS: ReadonlyMap<string, EventSchemaRow> = new Map();

/** Caches the custom event schemas of projects. */
export function createEventSchemas(db: Queryable, versions: DefinitionVersions): EventSchemas {
  const cache = createDefinitionCache<ReadonlyMap<string, EventSchemaRow>>({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) => {
      const projects = await findProjectEventSchemas(
        db,
        keys.map(({ projectId }) => projectId),
      );
      return projects.map((schemas) => new Map(schemas.map((schema) => [schema.name, schema])));
    },
  });
  return async (projectId) => (await cache.get(projectId, "")) ?? NO_SCHEMAS;
}
