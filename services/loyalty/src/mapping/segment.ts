import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Segment, SegmentSchema } from "@scrip/proto/scrip/loyalty/v1/segments_pb";

import type { SegmentRow } from "../store/segments.ts";

/** Who is in a segment is found out when it is asked, so no segment is ever in the making. */
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
