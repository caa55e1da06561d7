import {
  type Metadata,
  type ScopeEntryDefinition,
  type ValidationRule,
  type ValidationRuleDefinition,
  parseValidationRule,
} from "@scrip/rules";

import { type DecisionRequest, decide } from "./decide.ts";
import type { Inapplicable, JudgedRedeemable } from "./decision.ts";
import { NOTHING_GATHERED } from "./given.ts";
import { DEFAULT_STACKING_RULES } from "./stacking-rules.ts";

/** Rules for tests, which name only what they are about. */

export function givenRule(
  id: string,
  rules: object,
  definition: Partial<ValidationRuleDefinition> = {},
): ValidationRule {
  const parsed = parseValidationRule({
    id,
    rules: rules as Metadata,
    bundleRules: null,
    applicableTo: null,
    errorMessage: null,
    ...definition,
  });
  if (parsed.kind === "violation") throw new Error(parsed.text);
  return parsed.rule;
}

/** One rule under one name. */
export const oneRule = (name: string, conditions: object, more: object = {}): ValidationRule =>
  givenRule("val_1", { 1: { name, conditions, ...more } });

export const givenEntry = (entry: Partial<ScopeEntryDefinition> = {}): ScopeEntryDefinition => ({
  object: "product",
  id: "prod_1",
  sourceId: null,
  productId: null,
  strict: null,
  effect: null,
  target: null,
  skipInitially: null,
  repeat: null,
  price: null,
  priceFormula: null,
  quantityLimit: null,
  aggregatedQuantityLimit: null,
  amountLimit: null,
  aggregatedAmountLimit: null,
  budgets: [],
  ...entry,
});

/** 2026-11-21 12:00 in Warsaw, a Saturday. */
export const NOW = 1_795_258_800_000;

export const requestOf = (request: Partial<DecisionRequest>): DecisionRequest => ({
  redeemables: [],
  order: null,
  customer: null,
  metadata: {},
  moment: { now: NOW, timeZone: "Europe/Warsaw" },
  stacking: DEFAULT_STACKING_RULES,
  ...NOTHING_GATHERED,
  ...request,
});

/** What was decided on each redeemable of a request that is in order. */
export function judgedIn(request: Partial<DecisionRequest>): readonly JudgedRedeemable[] {
  const decision = decide(requestOf(request));
  if (decision.kind !== "decided") throw new Error(decision.refusal.key);
  return decision.redeemables;
}

export function refusedIn(request: Partial<DecisionRequest>): Inapplicable {
  const [judged] = judgedIn(request);
  if (judged?.status !== "INAPPLICABLE") throw new Error(`it is ${judged?.status}`);
  return judged;
}
