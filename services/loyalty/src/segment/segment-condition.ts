import { compileFilters, type TimeContext } from "@scrip/filters";

import { customerFilters } from "../store/segment-filters.ts";
import type { SegmentRow } from "../store/segments.ts";

/**
 * SQL condition over `customer` for the current members of a segment; without a segment it matches no customer.
 * Parameters are added to `values`, the first of which is the project id.
 */
export function segmentCondition(
  segment: SegmentRow | undefined,
  { time, values }: { readonly time: TimeContext; readonly values: unknown[] },
): string {
  if (segment === undefined) return "false";
  if (segment.filter === null) {
    return `id in (select customer_id from segment_customer
               where project_id = $1 and segment_id = $${values.push(segment.id)})`;
  }
  const compiled = compileFilters(segment.filter, { ...time, fields: customerFilters, values });
  if (compiled.kind === "violation") {
    throw new Error(`segment ${segment.id} has an invalid filter: ${compiled.text}`);
  }
  return compiled.text;
}
