import type { Transport } from "@connectrpc/connect";
import {
  type ListTiersNamingSegmentResponse,
  ReferralTierService,
} from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { type Call, clientOf } from "@scrip/rpc";

/** Tiers of referral programs. */
export type ReferralTiers = {
  namingSegment(segmentId: string, call: Call): Promise<ListTiersNamingSegmentResponse>;
};

export function createReferralTiersClient(transport: Transport): ReferralTiers {
  const client = clientOf(ReferralTierService, transport);
  return {
    namingSegment: (segmentId, call) =>
      client.listTiersNamingSegment({ segmentId }, { ...call, idempotency: undefined }),
  };
}
