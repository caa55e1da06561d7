export { civilFromDays, daysFromCivil, daysInMonth } from "./civil.ts";
export {
  type AmountDiscount,
  type AmountItemEffect,
  type Discount,
  type DiscountDefinition,
  type DiscountEffect,
  type DiscountType,
  type FixedDiscount,
  type ParsedDiscount,
  type PercentDiscount,
  parseDiscount,
} from "./discount.ts";
export { type Duration, parseDuration } from "./duration.ts";
export { parseDay } from "./formula/dates.ts";
export { type FormulaResult, type FormulaScope, evaluateFormula } from "./formula/evaluate.ts";
export { type Formula, type ParsedFormula, parseFormula } from "./formula/parse.ts";
export {
  type KnownValue,
  type Metadata,
  type MetadataValue,
  countValue,
  dateValue,
  metadataValue,
  moneyValue,
} from "./formula/value.ts";
export { type LocalTime, addDuration, instantOf, isTimeZone, localTimeAt } from "./time-zone.ts";
export {
  type DailyHours,
  type Moment,
  type TimeVerdict,
  type Validity,
  type ValidityTimeframe,
  checkValidity,
  judgeValidity,
} from "./validity.ts";
