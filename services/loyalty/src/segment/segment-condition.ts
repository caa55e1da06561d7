import { compileFilters, type FilterField, type TimeContext } from "@scrip/filters";
import type { Queryable } from "@scrip/postgres";

import { segmentsNamedIn } from "../domain/segment-reads.ts";
import { customerFilters } from "../store/segment-filters.ts";
import { findSegments, type SegmentRow } from "../store/segments.ts";

type Statement = { readonly time: TimeContext; readonly values: unknown[] };

/**
 * SQL condition over `customer` for the current members of a segment; without a segment it matches no customer.
 * Parameters are added to `values`, the first of which is the project id.
 */
export async function segmentCondition(
  db: Queryable,
  { projectId, segmentId }: { readonly projectId: string; readonly segmentId: string },
  statement: Statement,
): Promise<string> {
  const [segment] = await findSegments(db, [{ projectId, id: segmentId }]);
  if (segment === undefined) return "false";
  const named = segmentsNamedIn(segment.filter ?? {});
  const segments = await findSegments(
    db,
    named.map((id) => ({ projectId, id })),
  );
  return memberCondition(segment, { ...statement, segments });
}

function memberCondition(
  segment: SegmentRow,
  { segments, ...statement }: Statement & { readonly segments: readonly SegmentRow[] },
): string {
  const { time, values } = statement;
  if (segment.filter === null) {
    return `id in (select customer_id from segment_customer
               where project_id = $1 and segment_id = $${values.push(segment.id)})`;
  }
  const named = { ...customerFilters.named, segments: segmentsField(segments, statement) };
  const fields = { ...customerFilters, named };
  const compiled = compileFilters(segment.filter, { ...time, fields, values });
  if (compiled.kind === "violation") {
    throw new Error(`segment ${segment.id} has an invalid filter: ${compiled.text}`);
  }
  return compiled.text;
}

/** The ids of those segments that contain the customer. */
function segmentsField(segments: readonly SegmentRow[], statement: Statement): FilterField {
  const ids = segments.map((segment) => {
    const condition = memberCondition(segment, { ...statement, segments: [] });
    return `case when ${condition} then $${statement.values.push(segment.id)}::text end`;
  });
  return { type: "array", sql: `array_remove(array[${ids.join(", ")}]::text[], null)` };
}
