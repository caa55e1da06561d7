import { invalidPayload, notFound } from "@scrip/errors";
import { validityFromProto } from "@scrip/mapping";
import type { NewEarningRule } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import {
  checkValidity,
  type ExpirationRules,
  parseExpirationRules,
  type Validity,
} from "@scrip/rules";

import type { Deps } from "../deps.ts";
import {
  ANY_TIER,
  type EarningRule,
  isCustomEvent,
  ORDER_PAID,
  SEGMENT_ENTERED,
  TIER_EVENTS,
} from "../domain/earning/earning-rule.ts";
import { parseCalculation } from "../mapping/earning-calculation.ts";
import { findTier } from "../store/loyalty-tiers.ts";
import { findSegment } from "../store/segments.ts";

type RuleContext = {
  readonly projectId: string;
  readonly campaignId: string;
  readonly now: number;
};

/** Reads and checks an earning rule to create: its event, what the event is about, and the calculation. */
export async function newEarningRule(
  deps: Deps,
  request: NewEarningRule,
  { projectId, campaignId, now }: RuleContext,
): Promise<EarningRule> {
  const { event, loyalty } = request;
  if (loyalty === undefined)
    throw invalidPayload("Payload should have required property 'loyalty'");
  rejectFieldsOfOtherEvents(request);
  const [tierId, schemaId, segmentId] = await Promise.all([
    requireTier(deps, projectId, request),
    requireSchema(deps, projectId, request),
    requireSegment(deps, projectId, request),
  ]);
  return {
    id: deps.newId("ern"),
    campaignId,
    event,
    schemaId,
    segmentId,
    tierId,
    validationRuleId: request.validationRuleId ?? null,
    ruleAssignedAt: request.validationRuleId === undefined ? null : now,
    calculation: parseCalculation(loyalty, event),
    pendingDays:
      request.pendingPoints === undefined ? null : Number(request.pendingPoints.periodValue),
    expirationRules: requireExpirationRules(request.expirationRules),
    banner: request.source?.banner ?? null,
    active: request.active ?? true,
    validity: requireValidity(validityFromProto(request)),
    automationId: deps.newId("ern").replace("ern_", "auto_"),
    metadata: request.metadata ?? {},
    createdAt: now,
    updatedAt: null,
  };
}

function rejectFieldsOfOtherEvents({
  event,
  pendingPoints,
  customEvent,
  segment,
  loyaltyTier,
}: NewEarningRule): void {
  const misplaced = [
    pendingPoints !== undefined && event !== ORDER_PAID && "pending_points",
    customEvent !== undefined && !isCustomEvent(event) && "custom_event",
    segment !== undefined && event !== SEGMENT_ENTERED && "segment",
    loyaltyTier !== undefined && !TIER_EVENTS.has(event) && "loyalty_tier",
  ].find((name) => name !== false);
  if (misplaced !== undefined) {
    throw invalidPayload(`Property .${misplaced} does not belong to the event '${event}'`);
  }
}

export function requireValidity(validity: Validity): Validity {
  const fault = checkValidity(validity);
  if (fault !== null) throw invalidPayload(fault);
  return validity;
}

export function requireExpirationRules(
  json: Readonly<Record<string, unknown>> | undefined,
): ExpirationRules | null {
  if (json === undefined) return null;
  const parsed = parseExpirationRules(json);
  if ("violation" in parsed) throw invalidPayload(parsed.violation);
  return parsed.rules;
}

/** The schema of a custom event; null in projects without schemas, where any name is an event. */
async function requireSchema(
  { eventSchemas }: Deps,
  projectId: string,
  { event, customEvent }: NewEarningRule,
): Promise<string | null> {
  if (!isCustomEvent(event)) return null;
  const schemas = await eventSchemas(projectId);
  const schema = schemas.get(event);
  if (customEvent !== undefined && schema?.id !== customEvent.schemaId) {
    throw notFound("custom_event_schema", customEvent.schemaId);
  }
  if (schema === undefined && schemas.size > 0) throw notFound("custom_event_schema", event);
  return schema?.id ?? null;
}

async function requireSegment(
  { db }: Deps,
  projectId: string,
  { event, segment }: NewEarningRule,
): Promise<string | null> {
  if (event !== SEGMENT_ENTERED) return null;
  if (segment === undefined)
    throw invalidPayload("Payload should have required property 'segment'");
  if ((await findSegment(db, projectId, segment.id)) === undefined) {
    throw notFound("segment", segment.id);
  }
  return segment.id;
}

/** The tier can belong to another program. */
async function requireTier(
  { db }: Deps,
  projectId: string,
  { event, loyaltyTier }: NewEarningRule,
): Promise<string | null> {
  if (!TIER_EVENTS.has(event)) return null;
  if (loyaltyTier === undefined) {
    throw invalidPayload("Payload should have required property 'loyalty_tier'");
  }
  const { id } = loyaltyTier;
  if (id !== ANY_TIER && (await findTier(db, { projectId, id })) === undefined) {
    throw notFound("loyalty_tier", id);
  }
  return loyaltyTier.id;
}
