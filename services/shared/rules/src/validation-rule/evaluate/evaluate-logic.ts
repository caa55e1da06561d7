import type { Logic } from "../model/logic.ts";

/** null: unknown before the effect is calculated. */
export type Verdict = boolean | null;

/**
 * Evaluates an expression from left to right, and stops when the rest cannot matter. Unknown parts
 * decide nothing; known parts may decide without them.
 */
export function evaluateLogic(
  logic: Logic,
  check: (number: number, isRequired: boolean) => Verdict,
  isRequired = true,
): Verdict {
  if (logic.kind === "rule") return check(logic.number, isRequired);
  const decisive = logic.kind === "any";
  const arePartsRequired = isRequired && (logic.kind === "all" || logic.parts.length === 1);
  let verdict: Verdict = !decisive;
  for (const part of logic.parts) {
    const one = evaluateLogic(part, check, arePartsRequired);
    if (one === decisive) return decisive;
    if (one === null) verdict = null;
  }
  return verdict;
}
