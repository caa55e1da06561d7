/** Opens for `duration` at the start date and again after every `interval`; ISO 8601 durations. */
export type ValidityTimeframe = { readonly interval: string; readonly duration: string };

/**
 * Open from `startTime` to `expirationTime` (HH:mm), on the listed weekdays or on all when none is
 * listed. An end before the start is on the next day.
 */
export type DailyHours = {
  readonly startTime: string;
  readonly expirationTime: string;
  readonly daysOfWeek: readonly number[];
};

/** The time limits of a voucher, a campaign or a promotion tier; instants are epoch milliseconds. */
export type Validity = {
  readonly startDate: number | null;
  readonly expirationDate: number | null;
  readonly timeframe: ValidityTimeframe | null;
  /** 0 is Sunday; an empty list is no limit. */
  readonly daysOfWeek: readonly number[] | null;
  readonly hours: { readonly daily: readonly DailyHours[] } | null;
};

/** The result of evaluating time limits at an instant. */
export type ValidityStatus = "open" | "not_started" | "ended" | "outside_window";

/** Minutes of a time of day written as HH:mm. */
export const minutesOf = (time: string): number =>
  Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
