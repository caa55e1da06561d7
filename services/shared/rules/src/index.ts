export { type Count, countKey, type CountMeasure, type CountScope } from "./count.ts";
export type {
  AmountItemEffect,
  DiscountDefinition,
  DiscountEffect,
  DiscountType,
  UnitDefinition,
  UnitEffect,
} from "./discount/definition.ts";
export {
  type AmountDiscount,
  type Discount,
  type FixedDiscount,
  type MoneyDiscount,
  type ParsedDiscount,
  type PercentDiscount,
  parseDiscount,
} from "./discount/parse-discount.ts";
export {
  type UnitDiscount,
  type UnitGrant,
  type UnitGrantEffect,
} from "./discount/parse-unit-discount.ts";
export {
  type ExpirationRules,
  type ExpiryRounding,
  integerOf,
  parseExpirationRules,
} from "./expiration/expiration-rules.ts";
export {
  DEFAULT_TIER_POLICY,
  parseTierPolicy,
  type TierExpiration,
  type TierPeriod,
  type TierPolicy,
  type TierRounding,
} from "./expiration/tier-policy.ts";
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
  metadataValue,
  moneyValue,
  numberValue,
  valueToJson,
} from "./formula/value.ts";
export { civilFromDays, daysFromCivil, daysInMonth, isCivilDay } from "./time/civil.ts";
export { type Duration, parseDuration } from "./time/duration.ts";
export { type Period, startOfNextPeriod, startOfPeriod } from "./time/period.ts";
export type { TimeContext } from "./time/time-context.ts";
export {
  type LocalTime,
  addDuration,
  formatInstant,
  instantAt,
  isTimeZone,
  localTimeAt,
} from "./time/time-zone.ts";
export { meetsConditions } from "./validation-rule/evaluate/count-conditions.ts";
export { checkRule, failingRules } from "./validation-rule/evaluate/check-rule.ts";
export { idsOperand, metadataOperand } from "./validation-rule/evaluate/operands.ts";
export { matchesAny, matchingItems } from "./validation-rule/evaluate/value-set.ts";
export type { Condition } from "./validation-rule/model/condition.ts";
export {
  type ItemScopeDefinition,
  type ScopeEntryDefinition,
  type UnitBudgetDefinition,
  UNIT_BUDGET_NAMES,
  type UnitBudgetName,
  type ValidationRuleDefinition,
} from "./validation-rule/model/definition.ts";
export type { ItemIdentity, ItemObject, ItemRef } from "./validation-rule/model/item-ref.ts";
export { namedSegments } from "./validation-rule/model/named-segments.ts";
export {
  type RuleClass,
  type RuleName,
  RULE_NAMES,
  traitsOf,
} from "./validation-rule/model/rule-names.ts";
export type { RuleLine, RuleReader } from "./validation-rule/model/rule-reader.ts";
export type {
  CheckedRule,
  CheckPhase,
  FailingRule,
  RuleOutcome,
} from "./validation-rule/model/rule-result.ts";
export type {
  ApplicationEffect,
  BundlePart,
  BundleRules,
  ItemScope,
  Rule,
  ScopeEntry,
  UnitBudget,
  ValidationRule,
} from "./validation-rule/model/rule.ts";
export {
  type ParsedValidationRule,
  parseValidationRule,
} from "./validation-rule/parse/parse-rule.ts";
export { expectedDates, firstMatchingDay } from "./validation-rule/suggest/date-suggestions.ts";
export {
  expectedMembers,
  smallestDifference,
} from "./validation-rule/suggest/smallest-difference.ts";
export { checkValidity } from "./validity/check-validity.ts";
export { evaluateValidity, isWithinDates } from "./validity/evaluate-validity.ts";
export { nextOpening } from "./validity/next-opening.ts";
export type {
  DailyHours,
  Validity,
  ValidityStatus,
  ValidityTimeframe,
} from "./validity/validity.ts";
