import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Segment, SegmentSchema } from "@scrip/proto/scrip/loyalty/v1/segments_pb";

import type { SegmentRow } from "../store/segments.ts";

/** Segments are evaluated on demand, so their initial synchronisation is always done. */
export const segmentToProto = ({ id, name, type, filter, ...at }: SegmentRow): Segment =>
  create(SegmentSchema, {
    id,
    name,
    type,
    initialSyncStatus: "DONE",
    createdAt: timestampFromDate(at.created_at),
    ...(filter !== null && { filter }),
    ...(at.updated_at !== null && { updatedAt: timestampFromDate(at.updated_at) }),
  });
