/** The time of an evaluation, and the calendar of the project. */
export type TimeContext = {
  readonly now: number;
  readonly timeZone: string;
  /** First day of the week, 0 (Sunday) to 6 (Saturday). Default: Monday. */
  readonly firstWeekday?: number | undefined;
};
