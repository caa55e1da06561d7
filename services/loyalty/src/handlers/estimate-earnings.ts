import { create } from "@bufbuild/protobuf";
import {
  type EarningRuleService,
  EstimateEarningsResponseSchema,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";
import { evaluateValidity } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import { ORDER_PAID } from "../domain/earning/earning-rule.ts";
import { holds, pointsOf } from "../domain/earning/grants.ts";
import type { EarningSubject } from "../domain/earning/subject.ts";
import { keyOf } from "../domain/key.ts";
import { earningOrderFromProto } from "../mapping/earning-trigger.ts";
import { findPrograms } from "../store/loyalty-programs.ts";
import { findHolderTiers, loadTiers } from "../tiers/holder-tiers.ts";

export const estimateEarnings =
  (deps: Deps): Handler<typeof EarningRuleService.method.estimateEarnings> =>
  async (
    {
      campaignId,
      order,
      customerMetadata = {},
      segmentIds,
      unreadableSegmentIds,
      loyaltyTierIds,
      cardId,
    },
    call,
  ) => {
    const { id: projectId } = call.project;
    const card = cardId === undefined ? [] : [{ projectId, cardId }];
    const [programs, { rules, conditions }, tiers] = await Promise.all([
      findPrograms(deps.db, [{ projectId, campaignId }]),
      deps.earning(projectId),
      loadTiers(deps, card).then((all) => findHolderTiers(deps.db, all, card)),
    ]);
    const tier = tiers.get(keyOf(projectId, cardId ?? "")) ?? null;
    // A program that was created just now is not in the replica; the caller knows that it is live.
    const program = programs.get(keyOf(projectId, campaignId));
    const time = timeContextOf(call);
    const subject: EarningSubject = {
      order: order === undefined ? null : earningOrderFromProto(order),
      customerMetadata,
      segmentIds,
      unreadableSegmentIds,
      tierIds: loyaltyTierIds,
      eventMetadata: null,
      time,
    };
    const conditionOf = (id: string) => conditions.get(id);
    const points = (rules.get(ORDER_PAID) ?? [])
      .filter((rule) => rule.campaignId === campaignId)
      .filter(
        ({ validity }) => evaluateValidity(validity, program?.validity ?? null, time) === "open",
      )
      .filter((rule) => holds(rule, { conditionOf, subject }))
      .reduce((sum, rule) => sum + pointsOf(rule, subject, tier), 0n);
    return create(EstimateEarningsResponseSchema, { points });
  };
