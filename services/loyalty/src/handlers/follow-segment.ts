import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { followSegment as follow } from "../store/segment-members.ts";
import { findSegment } from "../store/segments.ts";

export const followSegment =
  (deps: Deps): Handler<typeof SegmentService.method.followSegment> =>
  async ({ segmentId }, { project }) => {
    const segment = await findSegment(deps.db, project.id, segmentId);
    if (segment?.type === "passive") {
      await deps.definitions.write(project.id, (tx) => follow(tx, project.id, segmentId));
    }
    return create(EmptySchema);
  };
