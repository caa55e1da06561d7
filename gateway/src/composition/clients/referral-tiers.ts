import type { Transport } from "@connectrpc/connect";
import {
  type ListTiersNamingSegmentResponse,
  ReferralTierService,
} from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { type Call, clientOf, orIfUnimplemented } from "@scrip/rpc";

/** Tiers of referral programs. */
export type ReferralTiers = {
  /** The first tiers that name a segment, and their number. */
  namingSegment(
    segmentId: string,
    call: Call,
  ): Promise<Pick<ListTiersNamingSegmentResponse, "tierIds" | "total">>;
};

export function createReferralTiersClient(transport: Transport): ReferralTiers {
  const client = clientOf(ReferralTierService, transport);
  return {
    namingSegment: (segmentId, call) =>
      orIfUnimplemented(
        client.listTiersNamingSegment({ segmentId }, { ...call, idempotency: undefined }),
        { tierIds: [], total: 0n },
      ),
  };
}
