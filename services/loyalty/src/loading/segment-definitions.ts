import {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionVersions,
  type Queryable,
} from "@scrip/postgres";

import { readSegments } from "../domain/read-segments.ts";
import type { DynamicSegment } from "../domain/segment-matching.ts";
import { type ActivityReads, NO_READS } from "../domain/segment-reads.ts";
import { findProjectSegments, type ProjectSegmentRows } from "../store/segments.ts";

/** The segments of a project, prepared for evaluation. */
export type ProjectSegments = {
  readonly dynamic: readonly DynamicSegment[];
  /** Of all dynamic segments. */
  readonly reads: ActivityReads;
  /** Ids of segments whose filters cannot be read; only what refers to them fails. */
  readonly unreadable: readonly string[];
  /** Whether memberships of static segments have to be read. */
  readonly hasStatic: boolean;
};

export type SegmentDefinitions = (projectId: string) => Promise<ProjectSegments>;

const MAX_PROJECTS = 5_000;

/** Caches the segments of projects with their parsed filters. Each load reports those that cannot be read. */
export function createSegmentDefinitions(
  db: Queryable,
  versions: DefinitionVersions,
  onError: (error: Error) => void,
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
      ).map((rows) => projectSegmentsFromRows(rows, onError)),
  });
  return async (projectId) => (await cache.get(projectId, "")) ?? NO_SEGMENTS;
}

const NO_SEGMENTS: ProjectSegments = {
  dynamic: [],
  reads: NO_READS,
  unreadable: [],
  hasStatic: false,
};

function projectSegmentsFromRows(
  { dynamic: rows, hasStatic }: ProjectSegmentRows,
  onError: (error: Error) => void,
): ProjectSegments {
  const { dynamic, reads, unreadable } = readSegments(rows);
  for (const [id, text] of unreadable) {
    onError(new Error(`segment ${id} has an invalid filter: ${text}`));
  }
  return { dynamic, reads, unreadable: [...unreadable.keys()], hasStatic };
}
