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

/** What the process remembers of who has which rules. */
export type AssignmentCaches = {
  /** All assignments of a project by object, or `many`: then they are remembered one by one. */
  readonly ofProject: DefinitionCache<AssignmentsByObject | "many">;
  readonly ofObject: DefinitionCache<readonly AssignmentRow[]>;
};

type AssignmentsByObject = ReadonlyMap<string, readonly AssignmentRow[]>;

/**
 * A project with no more assignments than this is remembered as a whole. Nearly all objects have no
 * rules of their own, and then none of a hundred thousand vouchers is asked about, or takes any room.
 */
const MAX_AS_A_WHOLE = 1_000;

// About 200 bytes for each assignment and for each object without one: some 60 MB at most.
const MAX_PROJECTS = 200;
const MAX_OBJECTS = 100_000;

/** There is one whole for a project. */
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
        const found = await findAssignmentsOfProjects(db, keys, MAX_AS_A_WHOLE);
        return found.map((rows) => {
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
 * The rules of a new voucher are there before the voucher is, but another process may have written them
 * less than a second ago, and then the whole that is remembered here lacks them. So objects that were
 * made in the last seconds are always asked about one by one: nobody can have asked about them before
 * they had their rules. A request takes eight seconds at most; clocks differ.
 */
const YOUNG_MS = 20_000;

/** The assignments of those objects that have any, oldest first. */
export async function loadAssignments(
  { ofProject, ofObject }: AssignmentCaches,
  projectId: string,
  objectIds: readonly string[],
): Promise<AssignmentsByObject> {
  if (objectIds.length === 0) return NONE;
  const whole = await ofProject.get(projectId, WHOLE);
  if (whole === "many") return ofObject.getMany(projectId, objectIds);
  const newest = Date.now() - YOUNG_MS;
  const young = objectIds.filter((id) => (createdAtMs(id) ?? Infinity) > newest);
  const apart = await ofObject.getMany(projectId, young);
  if (whole === undefined) return apart;
  const found = new Map(apart);
  for (const id of objectIds) {
    const assignments = whole.get(id);
    if (assignments !== undefined && !found.has(id)) found.set(id, assignments);
  }
  return found;
}

const NONE: AssignmentsByObject = new Map();
