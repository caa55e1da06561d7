import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import type {
  Explanation as ExplanationMessage,
  ExplanationStep as StepMessage,
} from "@scrip/proto/scrip/common/v1/explanation_pb";
import type { Call } from "@scrip/rpc";

import type { EvaluatedRedeemable } from "../domain/decision/decision.ts";
import type {
  Explanation,
  ExplanationStepKind,
  ExplanationStep,
} from "../domain/decision/explanation-steps.ts";

/** Client-side callers do not see the internals of rules. */
export type Audience = "server" | "client";

export const audienceOf = ({ caller }: Call): Audience =>
  caller.side === "client" ? "client" : "server";

/** How a redeemable was decided; undefined if the steps were not recorded. */
export function explanationToProto(
  { status, explanation }: Pick<EvaluatedRedeemable, "status" | "explanation">,
  audience: Audience,
): ExplanationMessage | undefined {
  if (explanation === null) return undefined;
  const stepOf = audience === "server" ? stepToProto : safeStepToProto;
  return {
    $typeName: "scrip.common.v1.Explanation",
    status,
    steps: explanation.steps.map(stepOf),
    allocations: explanation.allocations.map(allocationToProto),
  };
}

const stepToProto = (step: ExplanationStep): StepMessage => ({
  ...safeStepToProto(step),
  message: step.message,
  ...(step.validationRuleId !== undefined && { validationRuleId: step.validationRuleId }),
  ...(step.rule !== undefined && { rule: step.rule }),
  ...(step.name !== undefined && { name: step.name }),
  ...(step.property !== undefined && { property: step.property }),
  ...(step.conditions !== undefined && { conditions: step.conditions as JsonObject }),
  ...(step.value !== undefined && { value: valueToProto(step.value as JsonValue) }),
  ...(step.operands !== undefined && { operands: step.operands as JsonObject }),
  ...(step.used !== undefined && { used: step.used }),
  ...(step.limit !== undefined && { limit: step.limit }),
});

/** Kind and outcome of a step only: no conditions, values or rule names. */
const safeStepToProto = ({ kind, passed }: ExplanationStep): StepMessage => ({
  $typeName: "scrip.common.v1.ExplanationStep",
  kind,
  passed,
  message: passed ? SAFE_TEXTS[kind].passed : SAFE_TEXTS[kind].failed,
});

const allocationToProto = ({
  orderItemIndex,
  amount,
  quantity,
}: Explanation["allocations"][number]) => ({
  $typeName: "scrip.common.v1.Allocation" as const,
  amount,
  ...(orderItemIndex !== null && { orderItemIndex }),
  ...(quantity !== null && { quantity }),
});

const valueToProto = (value: JsonValue): Value => fromJson(ValueSchema, value);

const text = (passed: string, failed: string) => ({ passed, failed });

const SAFE_TEXTS: Readonly<
  Record<ExplanationStepKind, { readonly passed: string; readonly failed: string }>
> = {
  active: text("It is switched on", "It is switched off"),
  dates: text("It can be used now", "It cannot be used now"),
  quantity: text("It can be redeemed once more", "It cannot be redeemed any more"),
  balance: text("Enough is left on it", "Not enough is left on it"),
  rule: text("A condition is met", "A condition is not met"),
  bundle: text("The order holds all that is needed together", "The order lacks something"),
  scope: text("It applies to this order", "It applies to nothing in this order"),
  formula: text("Its value was calculated", "Its fixed value is used"),
  effect: text("It changes the order", "It does not change the order"),
  limit: text("No limit was reached", "A limit was reached"),
  stacking: text("It can be combined", "It cannot be combined"),
};
