export { compileFilters, type CompiledFilters } from "./compile.ts";
export type { TimeContext } from "@scrip/rules";

export type { FilterContext } from "./condition.ts";
export { type FilterField, type FilterFields, jsonMember, type TextRange } from "./fields.ts";
export { OPERATORS } from "./operators.ts";
export { type CompiledPredicate, compilePredicate, type Predicate } from "./predicate.ts";
export { filterCondition, type FilterQuery, operandsIn } from "./query.ts";
export { inTimeRange, type TimeRange, timeRangeConditions } from "./time-range.ts";
export { readTree } from "./tree.ts";
export { memberOf, type RecordField, type RecordFields } from "./record.ts";
