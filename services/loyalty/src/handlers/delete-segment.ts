import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { inUse, notFound } from "@scrip/errors";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findRulesReferringTo } from "../store/earning-rules.ts";
import { deleteSegment as remove, findSegmentsNaming, lockSegments } from "../store/segments.ts";

/** The gateway checks before that no validation rule refers to the segment: loyalty may not call validation. */
export const deleteSegment =
  (deps: Deps): Handler<typeof SegmentService.method.deleteSegment> =>
  async ({ segmentId }, { project }) => {
    const outcome = await deps.definitions.write(project.id, async (tx) => {
      await lockSegments(tx, project.id);
      const reference = { column: "segment_id", id: segmentId } as const;
      const rules = await findRulesReferringTo(tx, project.id, reference);
      if (rules.total > 0n) throw inUse("segment", segmentId, { ...rules, type: "earning_rule" });
      const segments = await findSegmentsNaming(tx, project.id, segmentId);
      if (segments.total > 0n) throw inUse("segment", segmentId, { ...segments, type: "segment" });
      return remove(tx, project.id, segmentId);
    });
    if (outcome === "not_found") throw notFound("segment", segmentId);
    return create(EmptySchema);
  };
