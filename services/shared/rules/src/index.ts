export { civilFromDays, daysFromCivil, daysInMonth } from "./civil.ts";
export {
  type AmountDiscount,
  type Discount,
  type FixedDiscount,
  type MoneyDiscount,
  type ParsedDiscount,
  type PercentDiscount,
  parseDiscount,
} from "./discount.ts";
export type {
  AmountItemEffect,
  DiscountDefinition,
  DiscountEffect,
  DiscountType,
  UnitDefinition,
  UnitEffect,
} from "./discount-definition.ts";
export { type Duration, parseDuration } from "./duration.ts";
export { parseDay, parseInstant } from "./formula/dates.ts";
export { type FormulaResult, type FormulaScope, evaluateFormula } from "./formula/evaluate.ts";
export { type Formula, type ParsedFormula, parseFormula } from "./formula/parse.ts";
export {
  type KnownValue,
  type Metadata,
  type MetadataValue,
  booleanValue,
  countValue,
  dateValue,
  valueToJson,
  metadataValue,
  moneyValue,
  numberValue,
} from "./formula/value.ts";
export { type UnitDiscount, type UnitGift, type UnitGiftEffect } from "./unit-discount.ts";
export { nextOpening } from "./opening.ts";
export { type Period, startOfNextPeriod, startOfPeriod } from "./period.ts";
export {
  type LocalTime,
  addDuration,
  instantAt,
  formatInstant,
  isTimeZone,
  localTimeAt,
} from "./time-zone.ts";
export {
  type DailyHours,
  type TimeContext,
  type ValidityStatus,
  type Validity,
  type ValidityTimeframe,
  checkValidity,
  evaluateValidity,
} from "./validity.ts";
export { smallestDifference, expectedMembers } from "./validation-rule/change.ts";
export { expectedDates, firstMatchingDay } from "./validation-rule/change-in-time.ts";
export {
  type CheckedRule,
  type CheckPhase,
  type FailingRule,
  type RuleOutcome,
  checkRule,
  failingRules,
} from "./validation-rule/check.ts";
export type { Condition } from "./validation-rule/condition.ts";
export { meetsConditions } from "./validation-rule/counts.ts";
export {
  type ItemScopeDefinition,
  type ScopeEntryDefinition,
  type UnitBudgetDefinition,
  UNIT_BUDGET_NAMES,
  type UnitBudgetName,
  type ValidationRuleDefinition,
} from "./validation-rule/definition.ts";
export { type ItemIdentity, type ItemObject, type ItemRef } from "./validation-rule/items.ts";
export { type ParsedValidationRule, parseValidationRule } from "./validation-rule/parse.ts";
export { type RuleClass, type RuleName, RULE_NAMES, traitsOf } from "./validation-rule/names.ts";
export type { RuleLine, RuleReader } from "./validation-rule/reader.ts";
export { idsOperand, metadataOperand } from "./validation-rule/rule-value.ts";
export { matchesAny, matchingItems } from "./validation-rule/value-set.ts";
export type {
  ApplicationEffect,
  BundlePart,
  BundleRules,
  ItemScope,
  Rule,
  ScopeEntry,
  UnitBudget,
  ValidationRule,
} from "./validation-rule/rule.ts";
