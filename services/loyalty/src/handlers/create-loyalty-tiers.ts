import { create } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import {
  CreateLoyaltyTiersResponseSchema,
  type LoyaltyTierService,
} from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { Tier } from "../domain/tiers/tier.ts";
import {
  earningMappingsFromProto,
  priceMappingsFromProto,
  rangeFromProto,
  tierToProto,
} from "../mapping/loyalty-tier.ts";
import { requireProgram } from "../points/find-program.ts";
import { insertTier } from "../store/loyalty-tiers.ts";
import { changeTiers, requireMapped } from "../tiers/write-tiers.ts";

/** All of them are loaded together, and decide on every change of points. */
const MAX_TIERS = 100;

export const createLoyaltyTiers =
  (deps: Deps): Handler<typeof LoyaltyTierService.method.createLoyaltyTiers> =>
  async ({ campaignId, tiers: requests }, call) => {
    const { project, now } = call;
    const program = { projectId: project.id, campaignId };
    const created = requests.map((request): Tier => {
      if (request.points === undefined) {
        throw invalidPayload("Payload should have required property 'points'");
      }
      return {
        id: deps.newId("ltr"),
        campaignId,
        name: request.name,
        ...rangeFromProto(request.points),
        earningRules: earningMappingsFromProto(request.earningRules),
        rewards: priceMappingsFromProto(request.rewards),
        metadata: request.metadata ?? {},
        createdAt: now,
        updatedAt: null,
        deleted: false,
      };
    });
    // Members are evaluated by the rules of the program.
    await requireProgram(deps, call, campaignId);
    await changeTiers(deps, { call, campaignId }, async (tx, tiers) => {
      const all = [...tiers, ...created];
      if (all.filter(({ deleted }) => !deleted).length > MAX_TIERS) {
        throw invalidPayload(`A loyalty program cannot have more than ${MAX_TIERS} tiers`);
      }
      await requireMapped(tx, program, created);
      for (const tier of created) await insertTier(tx, project.id, tier);
      return { tiers: all, evaluates: true, result: undefined };
    });
    return create(CreateLoyaltyTiersResponseSchema, {
      tiers: created.map((tier) => tierToProto(tier)),
    });
  };
