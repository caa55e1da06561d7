import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
  UnreadableDefinition,
} from "@scrip/postgres";

import { type DynamicSegment, parseSegmentFilter } from "../domain/segment-matching.ts";
import { type ActivityReads, activityReads, mergedReads, NO_READS } from "../domain/segment-reads.ts";
import { findProjectSegments, type ProjectSegmentRows } from "../store/segments.ts";

/** The segments of a project, prepared for evaluation. */
export type ProjectSegments = {
  readonly dynamic: readonly DynamicSegment[];
  /** Of all dynamic segments. */
  readonly reads: ActivityReads;
  /** Whether memberships of static segments have to be read. */
  readonly hasStatic: boolean;
};

export type SegmentDefinitions = (projectId: string) => Promise<ProjectSegments>;

const MAX_PROJECTS = 5_000;

/** Caches the segments of projects with their parsed filters. */
export function createSegmentDefinitions(
  db: Queryable,
  versions: DefinitionVersions,
): SegmentDefinitions {
  const cache: DefinitionCache<ProjectSegments> = createDefinitionCache({
    versions,
    maxEntries: MAX_PROJECTS,
    load: async (keys) =>
      (
        await findProjectSegments(
          db,
          keys.map(({ projectId }) => projectId),
        )
      ).map(projectSegmentsFromRows),
  });
  return async (projectId) => (await cache.get(projectId, "")) ?? NO_SEGMENTS;
}

const NO_SEGMENTS: ProjectSegments = { dynamic: [], reads: NO_READS, hasStatic: false };

function projectSegmentsFromRows({
  dynamic: rows,
  hasStatic,
}: ProjectSegmentRows): ProjectSegments | UnreadableDefinition {
  const dynamic: DynamicSegment[] = [];
  for (const { id, name, filter } of rows) {
    const read = parseSegmentFilter(filter);
    if (read.kind === "violation") {
      return new UnreadableDefinition(`segment ${id} has an invalid filter: ${read.text}`);
    }
    dynamic.push({ id, name, matches: read.matches, reads: activityReads(filter) });
  }
  return { dynamic, reads: mergedReads(dynamic.map(({ reads }) => reads)), hasStatic };
}
