import { LRUCache } from "lru-cache";

/** Called once per project and minute. */
export type RaiseAlarm = (
  projectId: string,
  figures: { readonly misses: number; readonly codes: number },
) => void;

/** Detects projects most of whose codes within a minute do not exist, from whichever addresses they come. */
export type CodeAlarm = {
  readonly count: (projectId: string, misses: number) => void;
  /** Number of projects whose alarm was raised within the minute. */
  readonly raised: () => number;
};

const MINUTE_MS = 60_000;
const ALARM_MISSES = 100;
/** Beyond this number, those without requests for the longest time are forgotten. */
const MAX_PROJECTS = 10_000;

/** `codes` are counted since the first miss of the minute. */
type Minute = { misses: number; codes: number; endsAt: number; isRaised: boolean };

export function createCodeAlarm(raise: RaiseAlarm, now: () => number): CodeAlarm {
  const minutes = new LRUCache<string, Minute>({ max: MAX_PROJECTS });

  const currentMinute = (projectId: string, misses: number): Minute | undefined => {
    const known = minutes.get(projectId);
    if (known !== undefined && known.endsAt > now()) return known;
    if (misses === 0) return undefined;
    const minute = { misses: 0, codes: 0, endsAt: now() + MINUTE_MS, isRaised: false };
    minutes.set(projectId, minute);
    return minute;
  };

  return {
    count(projectId, misses) {
      const minute = currentMinute(projectId, misses);
      if (minute === undefined) return;
      minute.misses += misses;
      minute.codes += Math.max(misses, 1);
      const isAlarming = minute.misses > ALARM_MISSES && minute.misses * 2 > minute.codes;
      if (minute.isRaised || !isAlarming) return;
      minute.isRaised = true;
      raise(projectId, minute);
    },
    raised() {
      let count = 0;
      for (const { isRaised, endsAt } of minutes.values()) {
        if (isRaised && endsAt > now()) count += 1;
      }
      return count;
    },
  };
}
