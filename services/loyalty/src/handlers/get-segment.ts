import { notFound } from "@scrip/errors";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { segmentToProto } from "../mapping/segment.ts";
import { findSegment } from "../store/segments.ts";

export const getSegment =
  (deps: Deps): Handler<typeof SegmentService.method.getSegment> =>
  async ({ segmentId }, { project }) => {
    const segment = await findSegment(deps.db, project.id, segmentId);
    if (segment === undefined) throw notFound("segment", segmentId);
    return segmentToProto(segment);
  };
