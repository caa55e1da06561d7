import type { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findTiersNamingSegment } from "../store/referral-tiers.ts";

export const listTiersNamingSegment =
  ({ db }: Deps): Handler<typeof ReferralTierService.method.listTiersNamingSegment> =>
  async ({ segmentId }, { project }) => {
    const { ids, total } = await findTiersNamingSegment(db, project.id, segmentId);
    return {
      $typeName: "scrip.campaign.v1.ListTiersNamingSegmentResponse",
      tierIds: [...ids],
      total,
    };
  };
