import { currentTime } from "@scrip/clock";
import { createdAtMs } from "@scrip/ids";
import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
} from "@scrip/postgres";

import {
  type AssignmentRow,
  findAssignmentsOfObjects,
  findAssignmentsOfProjects,
} from "../store/rule-assignments.ts";

/** Caches of rule assignments. */
export type AssignmentCaches = {
  /**
   * All assignments of a project by object; `many` if there are too many, which are then cached one
   * by one.
   */
  readonly ofProject: DefinitionCache<AssignmentsByObject | "many">;
  readonly ofObject: DefinitionCache<readonly AssignmentRow[]>;
};

type AssignmentsByObject = ReadonlyMap<string, readonly AssignmentRow[]>;

/**
 * Up to this many assignments, a project is cached as a whole: most objects have no rules, and then
 * need neither a query nor a cache entry.
 */
const MAX_AS_A_WHOLE = 1_000;

// About 200 bytes per assignment and per object without one: 60 MB at most.
const MAX_PROJECTS = 200;
const MAX_OBJECTS = 100_000;

/** Cache key: one entry per project. */
const WHOLE = "";

export function createAssignmentCaches(
  db: Queryable,
  versions: DefinitionVersions,
): AssignmentCaches {
  return {
    ofProject: createDefinitionCache({
      versions,
      maxEntries: MAX_PROJECTS,
      load: async (keys) => {
        const loaded = await findAssignmentsOfProjects(db, keys, MAX_AS_A_WHOLE);
        return loaded.map((rows) => {
          if (rows === undefined) return undefined;
          return rows.length > MAX_AS_A_WHOLE
            ? "many"
            : Map.groupBy(rows, ({ object_id: objectId }) => objectId);
        });
      },
    }),
    ofObject: createDefinitionCache({
      versions,
      maxEntries: MAX_OBJECTS,
      load: (keys) => findAssignmentsOfObjects(db, keys),
    }),
  };
}

/**
 * Rules are assigned before their voucher is created, but possibly by another process less than a
 * second ago, so that a project's cached assignments may miss them. Objects created within this
 * time are therefore looked up individually. It covers the request timeout of 8 s and clock skew.
 */
const YOUNG_MS = 20_000;

/** Assignments of those objects that have any, oldest first. */
export async function loadAssignments(
  { ofProject, ofObject }: AssignmentCaches,
  projectId: string,
  objectIds: readonly string[],
): Promise<AssignmentsByObject> {
  if (objectIds.length === 0) return NONE;
  const ofWholeProject = await ofProject.get(projectId, WHOLE);
  if (ofWholeProject === "many") return ofObject.getMany(projectId, objectIds);
  const newest = currentTime() - YOUNG_MS;
  const young = objectIds.filter((id) => (createdAtMs(id) ?? Infinity) > newest);
  const individually = await ofObject.getMany(projectId, young);
  if (ofWholeProject === undefined) return individually;
  const loaded = new Map(individually);
  for (const id of objectIds) {
    const assignments = ofWholeProject.get(id);
    if (assignments !== undefined && !loaded.has(id)) loaded.set(id, assignments);
  }
  return loaded;
}

const NONE: AssignmentsByObject = new Map();
