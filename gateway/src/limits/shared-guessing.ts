import type { Messages } from "@scrip/redis";
import type { GuessingNews, SharedGuessing } from "@scrip/rpc";
import { RateLimiterRes as LimitExceeded } from "rate-limiter-flexible";

import type { CounterStore } from "./counter-stores.ts";

const WINDOW_SECONDS = 300;
const MAX_BLOCK_MS = 3_600_000;

const CHANNEL = "scrip:blocks";

/** Misses of all processes, counted in their store, and news of guessers, announced to those that `messages` reach. */
export function createSharedGuessing(
  store: CounterStore,
  messages: Messages | undefined,
  onFallback: (error: unknown) => void,
): SharedGuessing {
  const misses = store({ name: "misses", points: UNLIMITED, duration: WINDOW_SECONDS });
  const reports = store({ name: "guesser-reports", points: 1, duration: WINDOW_SECONDS });
  return {
    async addMisses(name, count) {
      try {
        return (await misses.consume(name, count)).consumedPoints;
      } catch (error) {
        onFallback(error);
        return undefined;
      }
    },
    async claimReport(name) {
      try {
        await reports.consume(name);
        return true;
      } catch (error) {
        if (error instanceof LimitExceeded) return false;
        onFallback(error);
        return true;
      }
    },
    ...(messages && { news: newsIn(messages) }),
  };
}

/** More codes than all callers send within the window. */
const UNLIMITED = 1_000_000_000;

const newsIn = (messages: Messages): NonNullable<SharedGuessing["news"]> => ({
  announce: (news) => messages.publish(CHANNEL, news),
  follow: (apply) =>
    messages.subscribe(CHANNEL, (message) => {
      if (isNews(message)) apply(message);
    }),
});

function isNews(message: unknown): message is GuessingNews {
  if (typeof message !== "object" || message === null) return false;
  const { name, ms, misses } = message as Readonly<Record<string, unknown>>;
  if (typeof name !== "string") return false;
  if (ms === undefined) return typeof misses === "number" && misses > 0;
  return typeof ms === "number" && ms > 0 && ms <= MAX_BLOCK_MS;
}
