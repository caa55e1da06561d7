/** Wakes a loop that sleeps between its rounds. A ring before the sleep is not lost. */
export type Alarm = {
  readonly ring: () => void;
  /** Resolves at the next ring or after `ms`, whichever comes first. */
  readonly sleep: (ms: number) => Promise<void>;
};

export function createAlarm(): Alarm {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    sleep: (ms) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          wake = undefined;
          rung = false;
          resolve();
        };
        const timer = setTimeout(end, ms);
        wake = end;
        if (rung) end();
      }),
  };
}
