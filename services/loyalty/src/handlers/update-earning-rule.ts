import { invalidPayload } from "@scrip/errors";
import { mergeValidityUpdate } from "@scrip/mapping";
import type {
  EarningRuleService,
  UpdateEarningRuleRequest,
} from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type EarningRule,
  ORDER_PAID,
  withValidationRule,
} from "../domain/earning/earning-rule.ts";
import { requireExpirationRules, requireValidity } from "../earning/new-earning-rule.ts";
import { changeEarningRule, storeValidationRules } from "../earning/write-rules.ts";
import { parseCalculation } from "../mapping/earning-calculation.ts";
import { earningRuleToProto } from "../mapping/earning-rule.ts";

export const updateEarningRule =
  (deps: Deps): Handler<typeof EarningRuleService.method.updateEarningRule> =>
  async (request, call) => {
    const { project, now } = call;
    const { campaignId, earningRuleId: id } = request;
    const rule = await changeEarningRule(deps, { call, campaignId, id }, async (before, tx) => {
      await storeValidationRules(tx, project.id, [request]);
      return updated(before, request, now);
    });
    return earningRuleToProto(rule);
  };

function updated(rule: EarningRule, request: UpdateEarningRuleRequest, now: number): EarningRule {
  const sent = new Set(request.updateMask?.paths);
  const changed = <Value>(path: string, value: () => Value, before: Value): Value =>
    sent.has(path) ? value() : before;
  const validationRuleId = changed(
    "validation_rule_id",
    () => request.validationRuleId ?? null,
    rule.validationRuleId,
  );
  return {
    ...withValidationRule(rule, validationRuleId, now),
    calculation: changed("loyalty", () => requireCalculation(request, rule), rule.calculation),
    pendingDays: changed("pending_points", () => pendingDaysOf(request, rule), rule.pendingDays),
    expirationRules: changed(
      "expiration_rules",
      () => requireExpirationRules(request.expirationRules),
      rule.expirationRules,
    ),
    banner: changed("source", () => request.source?.banner ?? null, rule.banner),
    active: changed("active", () => request.active ?? true, rule.active),
    validity: requireValidity(mergeValidityUpdate(rule.validity, request, sent)),
    metadata: { ...rule.metadata, ...request.metadata },
    updatedAt: now,
  };
}

function requireCalculation(
  { loyalty }: UpdateEarningRuleRequest,
  { event, calculation }: EarningRule,
) {
  if (loyalty === undefined) throw invalidPayload("Property .loyalty must be object");
  return parseCalculation(loyalty, event, calculation);
}

function pendingDaysOf(
  { pendingPoints }: UpdateEarningRuleRequest,
  { event }: EarningRule,
): number | null {
  if (pendingPoints === undefined) return null;
  if (event !== ORDER_PAID) {
    throw invalidPayload(`Property .pending_points does not belong to the event '${event}'`);
  }
  return Number(pendingPoints.periodValue);
}
