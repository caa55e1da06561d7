import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * Whether a number meets the conditions of a validation rule, all of them
 * (spec/validation-and-redemption.md §3.4). What is not a condition on numbers is met by none.
 */
export const meetsConditions = (value: bigint, conditions: JsonObject): boolean =>
  Object.entries(conditions).every(([operator, operand]) => {
    const operands = (Array.isArray(operand) ? operand : [operand]).map(orderTo(value));
    switch (operator) {
      case "$is":
      case "$in":
        return operands.includes(0);
      case "$is_not":
      case "$not_in":
        return !operands.includes(0);
      case "$less_than":
        return operands[0] === -1;
      case "$less_than_or_equal":
        return operands[0] === -1 || operands[0] === 0;
      case "$more_than":
      case "$greater_than":
        return operands[0] === 1;
      case "$more_than_or_equal":
      case "$greater_than_or_equal":
        return operands[0] === 1 || operands[0] === 0;
      default:
        return false;
    }
  });

/** -1 when the value is less than the operand. A comparison of a bigint with a number is exact. */
const orderTo =
  (value: bigint) =>
  (operand: JsonValue): -1 | 0 | 1 | undefined => {
    if (typeof operand !== "number") return undefined;
    if (value < operand) return -1;
    return value > operand ? 1 : 0;
  };
