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
    const input = { ...sent, redeemables: sent.redeemables.map(redeemableInputFromProto) };
    const { context, decision, tracking, session } = await runValidation(deps, call, input);
    deps.countValidations(call, decision.redeemables);

    const results = await mapInterleaved(
      decision.redeemables,
      (evaluated) => redeemableResultToProto(evaluated, context, call),
      call,
    );
    const { stacking, storedOrder } = context;
    const { order } = context.input;
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
        order !== undefined && { order: orderToProto(decision.order, order, storedOrder) }),
    });
  };
