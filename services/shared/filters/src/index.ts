export { compileFilters, type CompiledFilters } from "./compile.ts";
export type { FilterContext } from "./condition.ts";
export { type FilterField, type FilterFields, jsonMember } from "./fields.ts";
export { OPERATORS } from "./operators.ts";
