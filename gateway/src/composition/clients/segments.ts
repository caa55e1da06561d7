import type { Transport } from "@connectrpc/connect";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** Segments by id. */
export type Segments = {
  /** Called before something refers to the segment. Throws `not_found` when no segment has this id. */
  follow(segmentId: string, call: Call): Promise<void>;
};

export function createSegmentsClient(transport: Transport): Segments {
  const client = clientOf(SegmentService, transport);
  return {
    async follow(segmentId, call) {
      await client.followSegment({ segmentId }, { ...call, idempotency: undefined });
    },
  };
}
