import { roundDecimal, wholeOf } from "@scrip/money";

import { type KnownValue, countValue } from "../../formula/value.ts";
import { meetsAll } from "../evaluate/meets-conditions.ts";
import type { Condition } from "../model/condition.ts";

/** How far around each operand changes are searched. */
const MAX_DISTANCE = 50n;

/** Maximum number of members in a hint. */
const MAX_MEMBERS = 100;

/**
 * The smallest change after which an integer meets all conditions, negative for a decrease; null
 * when no number near the operands meets them.
 */
export function smallestDifference(
  value: bigint,
  conditions: readonly Condition[],
  isAllowed: (candidate: bigint) => boolean = (candidate) => candidate >= 0n,
): bigint | null {
  const away = least(BigInt(conditions.flatMap(operandsOf).length) + 1n, MAX_DISTANCE);
  const centres = [value, ...conditions.flatMap(operandsOf).flatMap(floorOf)];
  let smallest: bigint | null = null;
  for (const centre of new Set(centres)) {
    for (let candidate = centre - away; candidate <= centre + away; candidate += 1n) {
      const difference = candidate - value;
      if (smallest !== null && size(difference) >= size(smallest)) continue;
      if (isAllowed(candidate) && meetsAll(countValue(candidate), conditions, ANY_TIME)) {
        smallest = difference;
      }
    }
  }
  return smallest;
}

/** The ids or texts of which a list must contain one; empty for other conditions. */
export function expectedMembers(conditions: readonly Condition[]): readonly string[] {
  const members = conditions.flatMap((condition): string[] => {
    switch (condition.kind) {
      case "equality":
        return isPositive(condition.operator) ? condition.operands.flatMap(textOf) : [];
      case "items":
        return isPositive(condition.operator) || condition.operator === "$from"
          ? condition.items.map(({ id, sourceId }) => id ?? sourceId ?? "")
          : [];
      default:
        return [];
    }
  });
  return [...new Set(members)].slice(0, MAX_MEMBERS);
}

const isPositive = (operator: string): boolean => operator === "$is" || operator === "$in";

const textOf = (value: KnownValue): string[] => {
  if (value.kind === "text") return [value.value];
  return value.kind === "boolean" ? [String(value.value)] : [];
};

function operandsOf(condition: Condition): readonly KnownValue[] {
  if (condition.kind === "order") return [condition.operand];
  return condition.kind === "equality" ? condition.operands : [];
}

function floorOf(value: KnownValue): readonly bigint[] {
  const floor = value.kind === "number" ? roundDecimal(value.value, 0, "DOWN") : undefined;
  const whole = floor && wholeOf(floor);
  return whole === undefined ? [] : [whole];
}

/** Numbers do not depend on the time. */
const ANY_TIME = { now: 0, timeZone: "UTC" };

const size = (difference: bigint): bigint => (difference < 0n ? -difference : difference);

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
