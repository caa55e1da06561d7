import type { KnownValue, Metadata } from "../../formula/value.ts";
import type { TimeContext } from "../../time/time-context.ts";
import type { ItemIdentity } from "./item-ref.ts";
import type { RuleName } from "./rule-names.ts";

/** The values of rule names, as plain data. */
export type RuleReader = {
  readonly time: TimeContext;
  readonly hasCustomer: boolean;
  readonly hasOrder: boolean;
  readonly lines: readonly RuleLine[];
  /**
   * The value of a name; null when absent. Not used for lines. Counts and sums include the
   * redemption being evaluated, ids are texts, amounts are minor units.
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
