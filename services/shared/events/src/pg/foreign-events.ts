import { untilSharedTick } from "@scrip/clock";
import type { Queryable } from "@scrip/postgres";

import { asError } from "../delivery.ts";
import type { LogReader } from "./log-reader.ts";
import { readLogEnds } from "./log.ts";
import type { PgSubscription } from "./subscription.ts";

export type ForeignEventsOptions = {
  readonly db: Queryable;
  readonly log: Pick<LogReader, "outdate">;
  readonly subscriptions: ReadonlySet<Pick<PgSubscription, "isBehind" | "read">>;
  readonly everyMs: number;
  readonly onError: (error: Error) => void;
};

/**
 * Wakes the subscriptions that have events of other processes to read. One statement finds them for all of a process: with
 * one for each, an idle process would spend most of its time on them.
 */
export function watchForeignEvents(options: ForeignEventsOptions): { readonly stop: () => void } {
  const { db, log, subscriptions, everyMs, onError } = options;
  const look = async (): Promise<void> => {
    const ends = await readLogEnds(db);
    const behind = [...subscriptions].filter((subscription) => subscription.isBehind(ends));
    if (behind.length === 0) return;
    log.outdate();
    for (const subscription of behind) subscription.read();
  };
  let timer: NodeJS.Timeout;
  const waitAndLook = (): void => {
    timer = setTimeout(async () => {
      try {
        if (subscriptions.size > 0) await look();
      } catch (error) {
        onError(asError(error));
      }
      if (!stopped) waitAndLook();
    }, untilSharedTick(everyMs)).unref();
  };
  let stopped = false;
  waitAndLook();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
