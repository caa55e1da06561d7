import { randomUUID } from "node:crypto";

import type { Database } from "@scrip/postgres";

import { createAlarm } from "./alarm.ts";
import type { EventBus } from "./bus.ts";
import { asError } from "./delivery.ts";
import { publishPending } from "./outbox.ts";

export type RelayOptions = {
  /** The service's own database: its `outbox` and `outbox_lease`. */
  readonly db: Database;
  readonly bus: EventBus;
  readonly onError: (error: Error) => void;
  readonly timings?: Partial<RelayTimings>;
};

export type RelayTimings = {
  /** How long a dead relay blocks the others. */
  readonly leaseMs: number;
  /**
   * The polling interval for rows without a signal: those of other processes, or of one that died.
   */
  readonly idlePollMs: number;
  /** The pause between rounds while there is work, in which rows accumulate into a batch. */
  readonly gatherMs: number;
  readonly maxBackOffMs: number;
};

export type Relay = {
  /** Call it after each commit that wrote events; it is cheap. */
  readonly wake: () => void;
  /** Finishes the current round and releases the lease. */
  readonly close: () => Promise<void>;
};

const BATCH = 500;

const TIMINGS: RelayTimings = {
  leaseMs: 10_000,
  idlePollMs: 1_000,
  gatherMs: 50,
  maxBackOffMs: 5_000,
};

/** Moves a service's outbox to the bus, in one of all its processes at a time. */
export function startRelay(options: RelayOptions): Relay {
  const timings = { ...TIMINGS, ...options.timings };
  const alarm = createAlarm();
  const stop = createAlarm();
  const lease = createLease(options.db, timings.leaseMs);
  let closing = false;
  let failures = 0;

  const round = async (): Promise<number> => {
    try {
      // Without the lease, another process publishes, and finds these rows by its own poll.
      if (!(await lease.hold())) return timings.idlePollMs;
      const published = await publishPending(options.db, options.bus, BATCH);
      failures = 0;
      if (published === BATCH) return 0;
      return published > 0 ? timings.gatherMs : timings.idlePollMs;
    } catch (error) {
      options.onError(asError(error));
      failures += 1;
      return Math.min(timings.gatherMs * 2 ** Math.min(failures, 20), timings.maxBackOffMs);
    }
  };

  const run = async (): Promise<void> => {
    while (!closing) {
      const pauseMs = await round();
      if (closing) break;
      // A signal must not shorten the pause of a busy relay: it would publish row by row.
      if (pauseMs === timings.idlePollMs) await alarm.sleep(pauseMs);
      else if (pauseMs > 0) await stop.sleep(pauseMs);
    }
    await lease.release().catch(options.onError);
  };

  const running = run();
  return {
    wake: alarm.ring,
    async close() {
      closing = true;
      alarm.ring();
      stop.ring();
      await running;
    },
  };
}

type Lease = { readonly hold: () => Promise<boolean>; readonly release: () => Promise<void> };

/**
 * The lease of the relay, a row that its owner renews. The clock of the database decides its end.
 */
function createLease(db: Database, leaseMs: number): Lease {
  const owner = randomUUID();
  let held = false;
  let renewAt = 0;
  return {
    async hold() {
      // Taken before the statement: the lease ends later than assumed, never earlier.
      const startedAt = performance.now();
      if (startedAt < renewAt) return held;
      const { rowCount } = await db.query(
        `insert into outbox_lease as lease (name, owner, expires_at)
         values ('relay', $1, clock_timestamp() + $2 * interval '1 millisecond')
             on conflict (name) do update
            set owner = excluded.owner, expires_at = excluded.expires_at
          where lease.owner = excluded.owner or lease.expires_at <= clock_timestamp()`,
        [owner, leaseMs],
      );
      held = rowCount === 1;
      renewAt = startedAt + leaseMs / (held ? 2 : 4);
      return held;
    },
    async release() {
      await db.query("delete from outbox_lease where name = 'relay' and owner = $1", [owner]);
    },
  };
}
