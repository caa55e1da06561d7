import type { KnownValue } from "../../formula/value.ts";
import type { DailyHours, ValidityTimeframe } from "../../validity/validity.ts";
import type { ItemRef } from "./item-ref.ts";

/** One operator with its operands, parsed (docs/validation-rules.md#operators). */
export type Condition =
  | {
      readonly kind: "equality";
      readonly operator: "$is" | "$is_not" | "$in" | "$not_in";
      readonly operands: readonly KnownValue[];
    }
  | {
      readonly kind: "order";
      readonly operator: OrderOperator;
      /** A number, or a date as text. */
      readonly operand: KnownValue;
    }
  | {
      readonly kind: "text";
      readonly operator: "$starts_with" | "$ends_with" | "$contains";
      readonly operands: readonly KnownValue[];
    }
  | {
      readonly kind: "list";
      readonly operator: "$not_differ" | "$not_intersect";
      readonly operands: readonly KnownValue[];
    }
  | {
      readonly kind: "size";
      readonly operator: "$count" | "$count_more" | "$count_less";
      readonly size: number;
    }
  | {
      readonly kind: "days";
      readonly operator: DaysOperator;
      readonly days: number;
    }
  | { readonly kind: "window"; readonly operator: WindowOperator; readonly window: Window }
  | {
      readonly kind: "items";
      readonly operator: "$is" | "$is_not" | "$in" | "$not_in" | "$from";
      readonly items: readonly ItemRef[];
    };

export type OrderOperator =
  | "$less_than"
  | "$less_than_or_equal"
  | "$more_than"
  | "$more_than_or_equal"
  | "$after"
  | "$before";

/** The number of days between today and a date. */
export type DaysOperator =
  | "$more_than_ago"
  | "$less_than_ago"
  | "$is_days_ago"
  | "$more_than_future"
  | "$less_than_future"
  | "$is_days_in_future";

export type WindowOperator =
  | "$dow"
  | "$timeframe"
  | "$timeframe_absolute"
  | "$timeframe_daily_hours";

/** Dates as text, since the project's time zone determines their instants. */
export type Window = {
  readonly start: string | null;
  readonly end: string | null;
  readonly timeframe: ValidityTimeframe | null;
  readonly daysOfWeek: readonly number[] | null;
  readonly hours: { readonly daily: readonly DailyHours[] } | null;
};
