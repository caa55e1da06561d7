import { type DynamicSegment, parseSegmentFilter } from "./segment-matching.ts";
import { type ActivityReads, activityReads, mergedReads } from "./segment-reads.ts";

/** A segment with a filter, as it is stored. */
type StoredSegment = {
  readonly id: string;
  readonly name: string;
  readonly filter: object | null;
};

export type ReadSegments = {
  readonly dynamic: readonly DynamicSegment[];
  /** Of all of them. */
  readonly reads: ActivityReads;
  /** Why segments cannot be read, by id: a newer version wrote their filters in a form that this one does not know. */
  readonly unreadable: ReadonlyMap<string, string>;
};

/** Parses the filters of a project's segments. */
export function readSegments(rows: readonly StoredSegment[]): ReadSegments {
  const dynamic: DynamicSegment[] = [];
  const unreadable = new Map<string, string>();
  for (const { id, name, filter } of rows) {
    const read = parseSegmentFilter(filter);
    if (read.kind === "violation") unreadable.set(id, read.text);
    else dynamic.push({ id, name, matches: read.matches, reads: activityReads(filter ?? {}) });
  }
  return { dynamic, reads: mergedReads(dynamic.map(({ reads }) => reads)), unreadable };
}
