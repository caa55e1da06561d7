import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Segment, SegmentSchema } from "@scrip/proto/scrip/loyalty/v1/segments_pb";

import type { SegmentRow } from "../store/segments.ts";

/** Members are stored for `auto-update` segments; passive ones are evaluated on demand. */
export const segmentToProto = ({
  id,
  name,
  type,
  filter,
  sync_status: syncStatus,
  ...at
}: SegmentRow): Segment =>
  create(SegmentSchema, {
    id,
    name,
    type,
    initialSyncStatus: syncStatus ?? "DONE",
    createdAt: timestampFromDate(at.created_at),
    ...(filter !== null && { filter }),
    ...(at.updated_at !== null && { updatedAt: timestampFromDate(at.updated_at) }),
  });
