import type { Transport } from "@connectrpc/connect";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { type Call, clientOf, orIfUnimplemented } from "@scrip/rpc";

/** Segments by id. */
export type Segments = {
  /** Throws `not_found` when no segment has this id. */
  require(segmentId: string, call: Call): Promise<void>;
  /** Called when something refers to the segment. */
  follow(segmentId: string, call: Call): Promise<void>;
};

export function createSegmentsClient(transport: Transport): Segments {
  const client = clientOf(SegmentService, transport);
  return {
    async require(segmentId, call) {
      await client.getSegment({ segmentId }, { ...call, idempotency: undefined });
    },
    async follow(segmentId, call) {
      const followed = client.followSegment({ segmentId }, { ...call, idempotency: undefined });
      await orIfUnimplemented(followed, undefined);
    },
  };
}
