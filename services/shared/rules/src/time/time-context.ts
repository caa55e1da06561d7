/** The time at which something is evaluated, and the calendar of the project. */
export type TimeContext = {
  readonly now: number;
  readonly timeZone: string;
  /** The day that weeks begin on, 0 (Sunday) to 6 (Saturday); Monday when absent. */
  readonly firstWeekday?: number | undefined;
};
