import { type CheckedRule, type RuleOutcome, valueToJson, countKey } from "@scrip/rules";

import { ruleCount } from "../counts/rule-counts.ts";
import type { ExplanationStep } from "../decision/explanation-steps.ts";
import type { RuleContext } from "../eligibility/rule-operands.ts";

/** Each evaluated rule with the value that it read; rules that were not evaluated are omitted. */
export const ruleSteps = (
  outcomes: readonly RuleOutcome[],
  context: RuleContext,
): readonly ExplanationStep[] =>
  outcomes.flatMap(({ rule, checked }) =>
    checked.flatMap((one) => {
      const number = String(one.rule.number);
      const steps = one.children.flatMap((child) =>
        stepOf(child, rule.id, `${number}.${child.rule.number}`),
      );
      return [
        ...stepOf(one, rule.id, number).map((step) => ({
          ...step,
          ...countIn(one, context),
        })),
        ...steps,
      ];
    }),
  );

function stepOf(
  { rule, passed, value, lacks, isOmitted }: CheckedRule,
  validationRuleId: string,
  number: string,
): readonly ExplanationStep[] {
  if (passed === null || isOmitted) return [];
  const { name, property, definition } = rule;
  const subject = property === null ? name : `${name} '${property}'`;
  return [
    {
      kind: "rule",
      passed,
      message: messageOf(subject, { passed, value, lacks }),
      validationRuleId,
      rule: number,
      name,
      ...(property !== null && { property }),
      conditions: definition,
      ...(value !== null && { value: valueToJson(value) }),
    },
  ];
}

function messageOf(
  subject: string,
  { passed, value, lacks }: Pick<CheckedRule, "passed" | "value" | "lacks">,
): string {
  if (lacks !== null) return `${subject} needs ${lacks === "customer" ? "a customer" : "an order"}`;
  const read = value === null ? "has no value" : `is ${JSON.stringify(valueToJson(value))}`;
  return `${subject} ${read}, which ${passed === true ? "meets" : "does not meet"} its conditions`;
}

/** The count before this redemption, and the limit if there is exactly one. */
function countIn(
  { rule, lacks }: CheckedRule,
  context: RuleContext,
): Pick<ExplanationStep, "used" | "limit"> {
  const count = lacks === null ? ruleCount(rule.name, context.subject, context) : null;
  if (count === null) return {};
  const used = context.counts.get(countKey(count)) ?? 0n;
  const [operand, ...others] =
    (rule.definition["$less_than_or_equal"] as readonly unknown[] | undefined) ?? [];
  return typeof operand === "number" && Number.isSafeInteger(operand) && others.length === 0
    ? { used, limit: BigInt(operand) }
    : { used };
}
