import type { KnownValue, Metadata } from "../../formula/value.ts";
import type { TimeContext } from "../../time/time-context.ts";
import type { ItemIdentity } from "./item-ref.ts";
import type { RuleName } from "./rule-names.ts";

/** What the names in rules mean where they are checked: plain data, whoever checks. */
export type RuleReader = {
  readonly time: TimeContext;
  readonly hasCustomer: boolean;
  readonly hasOrder: boolean;
  readonly lines: readonly RuleLine[];
  /**
   * What a name is compared as; null when there is nothing. Never asked about the lines. Counts and
   * sums include what is being decided, ids are texts, amounts are minor units.
   */
  readonly read: (name: RuleName, property: string | null) => KnownValue | null;
};

/** A line of the order as it was sent. */
export type RuleLine = ItemIdentity & {
  readonly price: bigint | null;
  readonly quantity: bigint;
  readonly amount: bigint;
  readonly metadata: Metadata;
  readonly productMetadata: Metadata;
};
