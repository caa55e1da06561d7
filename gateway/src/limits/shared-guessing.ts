import type { Claims, Messages } from "@scrip/redis";
import type { GuesserNotice, ReportClaim, SharedGuessing } from "@scrip/rpc";
import { RateLimiterRes as LimitExceeded } from "rate-limiter-flexible";

import type { CounterStore } from "./counter-stores.ts";

const WINDOW_SECONDS = 300;
const MAX_BLOCK_MS = 3_600_000;

const CHANNEL = "scrip:blocks";
const REPORTS = "guesser-reports";

export type SharedGuessingOptions = {
  /** Reaches the other processes. Absent: they are workers of this machine. */
  readonly messages?: Messages | undefined;
  /** Absent: the store decides who reports. */
  readonly claims?: Claims | undefined;
  readonly onFallback: (error: unknown) => void;
};

/** Misses of all processes, counted in their store, and notices of guessers. */
export function createSharedGuessing(
  store: CounterStore,
  { messages, claims, onFallback }: SharedGuessingOptions,
): SharedGuessing {
  const misses = store({ name: "misses", points: UNLIMITED, duration: WINDOW_SECONDS });
  const reports = store({ name: REPORTS, points: 1, duration: WINDOW_SECONDS });
  const isFirst = async ({ name, ms }: ReportClaim): Promise<boolean> => {
    try {
      await reports.consume(name, 1, { customDuration: Math.ceil(ms / 1_000) });
      return true;
    } catch (error) {
      if (error instanceof LimitExceeded) return false;
      throw error;
    }
  };
  return {
    async addMisses(name, count) {
      try {
        const { consumedPoints, msBeforeNext } = await misses.consume(name, count);
        return { misses: consumedPoints, windowMs: Math.max(1, Math.ceil(msBeforeNext)) };
      } catch (error) {
        onFallback(error);
        return undefined;
      }
    },
    async claimReport(callers) {
      try {
        if (claims === undefined) return (await Promise.all(callers.map(isFirst))).includes(true);
        return await claims.claim(
          callers.map(({ name, ms }) => ({ name: `scrip:${REPORTS}:${name}`, ms })),
        );
      } catch (error) {
        onFallback(error);
        return true;
      }
    },
    ...(messages && { notices: noticesIn(messages) }),
  };
}

/** More codes than all callers send within the window. */
const UNLIMITED = 1_000_000_000;

const noticesIn = (messages: Messages): NonNullable<SharedGuessing["notices"]> => ({
  announce: (notice) => messages.publish(CHANNEL, notice),
  follow: (apply) =>
    messages.subscribe(CHANNEL, (message) => {
      if (isNotice(message)) apply(message);
    }),
});

function isNotice(message: unknown): message is GuesserNotice {
  if (typeof message !== "object" || message === null) return false;
  const { name, ms, misses, windowMs } = message as Readonly<Record<string, unknown>>;
  if (typeof name !== "string") return false;
  if (ms !== undefined) return isBetween(ms, MAX_BLOCK_MS);
  return isBetween(misses, UNLIMITED) && isBetween(windowMs, WINDOW_SECONDS * 1_000);
}

const isBetween = (value: unknown, most: number): boolean =>
  Number.isSafeInteger(value) && Number(value) > 0 && Number(value) <= most;
