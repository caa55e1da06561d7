import { create, type JsonObject } from "@bufbuild/protobuf";
import { instantToProto, optionalInstantToProto, validityToProto } from "@scrip/mapping";
import {
  type EarningRule as EarningRuleMessage,
  EarningRuleSchema,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";

import type { EarningRule } from "../domain/earning/earning-rule.ts";
import { calculationToProto } from "./earning-calculation.ts";
import { expirationRulesToJson } from "./expiration-rules.ts";

export function earningRuleToProto(rule: EarningRule): EarningRuleMessage {
  const { schemaId, segmentId, tierId, validationRuleId, pendingDays, expirationRules } = rule;
  const updatedAt = optionalInstantToProto(rule.updatedAt);
  return create(EarningRuleSchema, {
    id: rule.id,
    createdAt: instantToProto(rule.createdAt),
    ...(updatedAt !== undefined && { updatedAt }),
    ...(validationRuleId !== null && { validationRuleId }),
    loyalty: calculationToProto(rule.calculation),
    event: rule.event,
    ...(schemaId !== null && { customEvent: { schemaId } }),
    ...(segmentId !== null && { segment: { id: segmentId } }),
    ...(tierId !== null && { loyaltyTier: { id: tierId } }),
    ...(pendingDays !== null && {
      pendingPoints: { periodType: "DAY", periodValue: BigInt(pendingDays) },
    }),
    ...(expirationRules !== null && { expirationRules: expirationRulesToJson(expirationRules) }),
    source: {
      ...(rule.banner !== null && { banner: rule.banner }),
      objectId: rule.campaignId,
      objectType: "campaign",
    },
    active: rule.active,
    ...validityToProto(rule.validity),
    metadata: rule.metadata as JsonObject,
    automationId: rule.automationId,
  });
}
