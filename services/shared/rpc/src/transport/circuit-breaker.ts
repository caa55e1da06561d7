/** Failures are counted for this long. */
const WINDOW_MS = 10_000;
/** Fewer calls say nothing. */
const LEAST_CALLS = 20;
const FAILED_SHARE = 0.5;
/** How long an open circuit waits for its next trial. */
const OPEN_MS = 5_000;

export type CircuitBreaker = {
  /** Whether the circuit is closed, or a trial is due. */
  readonly allows: () => boolean;
  /** Call this before each call: in an open circuit it is the trial, and others wait for its outcome. */
  readonly begin: () => void;
  readonly record: (outcome: "succeeded" | "failed") => void;
  /** Forgets all calls and closes the circuit. */
  readonly reset: () => void;
};

/** Stops calls to a server most of whose recent calls have failed, except for one every five seconds. */
export function createCircuitBreaker(now: () => number): CircuitBreaker {
  let windowStart = now();
  let calls = 0;
  let failures = 0;
  let openUntil: number | undefined;
  const startWindow = (): void => {
    windowStart = now();
    calls = 0;
    failures = 0;
  };
  const reset = (): void => {
    openUntil = undefined;
    startWindow();
  };
  return {
    allows: () => openUntil === undefined || now() >= openUntil,
    begin() {
      if (openUntil !== undefined) openUntil = now() + OPEN_MS;
    },
    record(outcome) {
      if (openUntil !== undefined) {
        // Also calls that began before the circuit opened: one that succeeds shows that the server works again.
        if (outcome === "succeeded") reset();
        return;
      }
      if (now() - windowStart > WINDOW_MS) startWindow();
      calls += 1;
      if (outcome === "failed") failures += 1;
      if (calls >= LEAST_CALLS && failures >= calls * FAILED_SHARE) openUntil = now() + OPEN_MS;
    },
    reset,
  };
}
