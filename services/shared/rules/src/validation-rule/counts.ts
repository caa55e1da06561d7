import { type Metadata, countValue } from "../formula/value.ts";
import type { Condition } from "./condition.ts";
import { meetsAll } from "./meets.ts";
import { parseConditions } from "./parse-conditions.ts";
import { reading } from "./violation.ts";

/**
 * Whether a count or sum meets conditions as a rule stores them, such as
 * `{"$less_than_or_equal": [1]}`. Conditions that cannot be read are not met.
 */
export function meetsConditions(value: bigint, conditions: Metadata): boolean {
  const parsed = parsedConditions(conditions);
  return parsed !== null && meetsAll(countValue(value), parsed, ANY_MOMENT);
}

/** Numbers do not depend on the time. */
const ANY_MOMENT = { now: 0, timeZone: "UTC" };

function parsedConditions(conditions: Metadata): readonly Condition[] | null {
  const parsed = reading(() => parseConditions("campaign.redemptions.count", conditions));
  return parsed.kind === "read" ? parsed.value : null;
}
