import { create } from "@bufbuild/protobuf";
import { inTimeRange } from "@scrip/filters";
import {
  ListMemberTiersResponseSchema,
  type LoyaltyTierService,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { keyOf } from "../domain/key.ts";
import { tierToProto } from "../mapping/loyalty-tier.ts";
import { requireMemberCard } from "../points/require-member-card.ts";
import { findTier } from "../store/loyalty-tiers.ts";
import { findMemberTiers } from "../store/member-tiers.ts";

export const listMemberTiers =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.listMemberTiers> =>
  async (request, { project }) => {
    const projectId = project.id;
    const cardId = await requireMemberCard(deps, projectId, request);
    const states = await findMemberTiers(deps.db, [{ projectId, cardId }]);
    const state = states.get(keyOf(projectId, cardId));
    const tier =
      state?.tierId == null ? undefined : await findTier(deps.db, { projectId, id: state.tierId });
    const isListed = tier !== undefined && inTimeRange(new Date(tier.createdAt), request.createdAt);
    const data = !isListed ? [] : [tierToProto(tier, state)];
    return create(ListMemberTiersResponseSchema, { data, total: BigInt(data.length) });
  };
