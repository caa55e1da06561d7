import type { Metadata, MetadataValue } from "../../formula/value.ts";
import { isList } from "../../formula/value.ts";

/**
 * Whether a count or sum meets conditions as a rule stores them, such as `{"$less_than_or_equal":
 * [1]}`. Unreadable conditions are not met. Runs while rows are locked, so it compares without
 * parsing the conditions first.
 */
export const meetsConditions = (value: bigint, conditions: Metadata): boolean => {
  const entries = Object.entries(conditions);
  return (
    entries.length > 0 &&
    entries.every(([operator, operands]) => meetsOne(value, operator, operands))
  );
};

function meetsOne(value: bigint, operator: string, sent: MetadataValue): boolean {
  const operands = isList(sent) ? sent : [];
  const [first, ...others] = operands;
  const isSingle = typeof first === "number" && others.length === 0;
  // A bigint and a number are compared exactly.
  switch (operator) {
    case "$is":
    case "$in":
      return operands.some((operand) => typeof operand === "number" && isEqual(value, operand));
    case "$is_not":
    case "$not_in":
      return (
        operands.length > 0 &&
        operands.every((operand) => typeof operand === "number" && !isEqual(value, operand))
      );
    case "$less_than":
      return isSingle && value < first;
    case "$less_than_or_equal":
      return isSingle && value <= first;
    case "$more_than":
    case "$greater_than":
      return isSingle && value > first;
    case "$more_than_or_equal":
    case "$greater_than_or_equal":
      return isSingle && value >= first;
    default:
      return false;
  }
}

/** Neither is less than the other; `===` never holds between a bigint and a number. */
const isEqual = (value: bigint, operand: number): boolean =>
  !(value < operand) && !(value > operand);
