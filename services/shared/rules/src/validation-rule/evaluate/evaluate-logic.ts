import type { Logic } from "../model/logic.ts";

/** null: not known yet. */
export type Verdict = boolean | null;

/**
 * Evaluates an expression from left to right and stops as soon as the rest cannot matter. What is
 * not known yet decides nothing, but what is known may decide without it.
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
