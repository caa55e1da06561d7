import { decimalText } from "@scrip/money";
import {
  type DiscountEffect,
  type Formula,
  type FormulaScope,
  type KnownValue,
  type MetadataValue,
  evaluateFormula,
  valueToJson,
  numberValue,
} from "@scrip/rules";

import type { ExplanationStep } from "../decision/explanation-steps.ts";
import { formulaScopes } from "../formulas/formula-operands.ts";
import { discountOf, formulasOfDiscount } from "../input/subject.ts";
import type { ValueOutcome } from "../pricing/apply-value.ts";
import type { EvaluationLog } from "./evaluation-log.ts";

/** Maximum number of lines per formula in an explanation. */
const MAX_EXPLAINED_LINES = 20;

/** The effects that evaluate a formula line by line; others evaluate it once, without a line. */
const LINE_EFFECTS: ReadonlySet<DiscountEffect | null> = new Set([
  "APPLY_TO_ITEMS",
  "APPLY_TO_ITEMS_BY_QUANTITY",
]);

type AppliedValue = ValueOutcome & { readonly kind: "applied" };

/**
 * The operands and values of a discount's formulas, for the discounted lines.
 * docs/formulas.md#units-and-results
 */
export function formulaSteps(
  { input, bundles }: EvaluationLog,
  { benefit, allocations }: AppliedValue,
): readonly ExplanationStep[] {
  const { subject, state } = input;
  const formulas = formulasOfDiscount(discountOf(input.subject));
  if (benefit.kind !== "discount" || formulas.length === 0) return [];
  const scopeAt = formulaScopes({ subject, state, bundles: bundles?.quantity ?? 1n }, input);
  const lines = allocations.flatMap(({ orderItemIndex }) => orderItemIndex ?? []);
  const shown = [...new Set(lines)].slice(0, MAX_EXPLAINED_LINES);
  const isByLine = LINE_EFFECTS.has(benefit.effect);
  return formulas.flatMap((formula) =>
    isByLine && formula.readsLine
      ? shown.map((line) => stepOf(formula, scopeAt(line), { used: benefit.isDynamic, line }))
      : [stepOf(formula, scopeAt(null), { used: benefit.isDynamic, line: null })],
  );
}

function stepOf(
  formula: Formula,
  scope: FormulaScope,
  { used, line }: { readonly used: boolean; readonly line: number | null },
): ExplanationStep {
  const operands: Record<string, MetadataValue> = {};
  const onRead = (operand: string, value: KnownValue | null): void => {
    operands[operand] = value === null ? null : valueToJson(value);
  };
  const result = evaluateFormula(formula, { ...scope, onRead });
  const step = { kind: "formula", operands } as const;
  const where = line === null ? "" : ` for line ${line}`;
  if (result.kind === "fallback") {
    const message = `the formula returned no value${where}, so the static one applies: ${result.reason}`;
    return { ...step, passed: false, message };
  }
  if (used) {
    const message = `the formula returned ${decimalText(result.value)}${where}`;
    return { ...step, passed: true, message, value: valueToJson(numberValue(result.value)) };
  }
  const message = "the formula takes too many steps on this order, so the static value applies";
  return { ...step, passed: false, message };
}
