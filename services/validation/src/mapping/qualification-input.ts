import type {
  QualifyCampaignsRequest,
  QualifyVouchersRequest,
} from "@scrip/proto/scrip/validation/v1/qualifications_pb";

import {
  type QualificationScenario,
  SCENARIOS,
} from "../domain/qualification/qualification-scenario.ts";
import type { ResourceOrder } from "../domain/qualification/resource-order.ts";
import type { DecisionInput } from "./decision-input.ts";

/** The parsed request of the qualification of vouchers or campaigns. */
export type ResourceQualification = {
  readonly input: DecisionInput;
  readonly scenario: QualificationScenario;
  readonly order: ResourceOrder;
  readonly limit: number;
};

const DEFAULT_LIMIT = 10n;

export function resourceQualificationFromProto({
  customer,
  order,
  metadata,
  audienceRulesOnly = false,
  sortOrder = "-created_at",
  limit = DEFAULT_LIMIT,
}: QualifyVouchersRequest | QualifyCampaignsRequest): ResourceQualification {
  return {
    input: { redeemables: [], customer, order, metadata },
    scenario: SCENARIOS[audienceRulesOnly ? "AUDIENCE_ONLY" : "ALL"],
    order: sortOrder as ResourceOrder,
    limit: Number(limit),
  };
}
