import { type DynamicSegment, parseSegmentFilter } from "./segment-matching.ts";
import {
  type ActivityReads,
  activityReads,
  mergedReads,
  segmentsNamedIn,
} from "./segment-reads.ts";

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
  /**
   * Why segments cannot be read, by id: a newer version wrote their filters, or that of a segment which they name, in a
   * form that this one does not know.
   */
  readonly unreadable: ReadonlyMap<string, string>;
};

/** Parses the filters of a project's segments. */
export function readSegments(rows: readonly StoredSegment[]): ReadSegments {
  const parsed = rows.map(({ filter, ...row }) => ({
    ...row,
    filter: filter ?? {},
    read: parseSegmentFilter(filter),
  }));
  const unreadable = new Map(
    parsed.flatMap(({ id, read }): [string, string][] =>
      read.kind === "violation" ? [[id, read.text]] : [],
    ),
  );
  const dynamic: DynamicSegment[] = [];
  for (const { id, name, filter, read } of parsed) {
    if (read.kind === "violation") continue;
    const named = segmentsNamedIn(filter);
    const broken = named.find((each) => unreadable.has(each));
    if (broken !== undefined) {
      unreadable.set(id, `Segment ${broken} cannot be read`);
      continue;
    }
    const namesSegments = named.length > 0;
    dynamic.push({ id, name, matches: read.matches, reads: activityReads(filter), namesSegments });
  }
  return { dynamic, reads: mergedReads(dynamic.map(({ reads }) => reads)), unreadable };
}
