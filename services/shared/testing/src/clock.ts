export type FakeClock = {
  /** Epoch milliseconds; a function that may be passed on alone. */
  readonly now: () => number;
  readonly advance: (milliseconds: number) => void;
  readonly set: (instant: string) => void;
};

/** A clock that stands still until a test moves it. `start` is an ISO 8601 instant. */
export function fakeClock(start: string): FakeClock {
  let current = Date.parse(start);
  return {
    now: () => current,
    advance(milliseconds) {
      current += milliseconds;
    },
    set(instant) {
      current = Date.parse(instant);
    },
  };
}
