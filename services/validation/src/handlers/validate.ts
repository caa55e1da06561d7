import { create } from "@bufbuild/protobuf";
import {
  type ValidationService,
  ValidationSchema,
} from "@scrip/proto/scrip/validation/v1/validations_pb";
import { type Handlers, mapInterleaved } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { redeemableInputFromProto } from "../mapping/decision-input.ts";
import { orderToProto } from "../mapping/order.ts";
import { redeemableResultToProto } from "../mapping/redeemable-result.ts";
import { stackingRulesToProto } from "../mapping/stacking-rules.ts";
import { runValidation } from "../validation/run-validation.ts";

export const validate =
  (deps: Deps): Handlers<typeof ValidationService>["validate"] =>
  async (sent, call) => {
    const asked = { ...sent, redeemables: sent.redeemables.map(redeemableInputFromProto) };
    const { gathered, decision, tracking, session } = await runValidation(deps, call, asked);

    const results = await mapInterleaved(
      decision.redeemables,
      (judged) => redeemableResultToProto(judged, gathered, call),
      call.deadline,
    );
    const { stacking, stored } = gathered;
    const { order } = gathered.asked;
    const shown =
      decision.valid && stacking.redeemablesApplicationMode === "PARTIAL"
        ? results.filter(({ status }) => status === "APPLICABLE")
        : results;
    return create(ValidationSchema, {
      id: deps.newId("valid"),
      valid: decision.valid,
      redeemables: shown,
      skippedRedeemables: results.filter(({ status }) => status === "SKIPPED"),
      inapplicableRedeemables: results.filter(({ status }) => status === "INAPPLICABLE"),
      stackingRules: stackingRulesToProto(stacking),
      ...(tracking !== undefined && { trackingId: tracking }),
      ...(session !== undefined && { session }),
      ...(decision.order !== null &&
        order !== undefined && { order: orderToProto(decision.order, order, stored) }),
    });
  };
