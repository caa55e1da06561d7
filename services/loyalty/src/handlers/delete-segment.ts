import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteSegment as remove } from "../store/segments.ts";

/** The gateway checks before that no validation rule refers to the segment: loyalty may not call validation. */
export const deleteSegment =
  (deps: Deps): Handler<typeof SegmentService.method.deleteSegment> =>
  async ({ segmentId }, { project }) => {
    const outcome = await deps.definitions.write(project.id, (tx) =>
      remove(tx, project.id, segmentId),
    );
    if (outcome === "not_found") throw notFound("segment", segmentId);
    return create(EmptySchema);
  };
