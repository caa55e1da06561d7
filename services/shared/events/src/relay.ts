import { randomUUID } from "node:crypto";

import { untilSharedTick } from "@scrip/clock";
import type { Database } from "@scrip/postgres";

import { createAlarm } from "./alarm.ts";
import type { EventBus, Unpublished } from "./bus.ts";
import { asError } from "./delivery.ts";
import type { OutboxPosition } from "./outbox-position.ts";
import { findUnpublished, publishPending } from "./outbox.ts";

export type RelayOptions = {
  /** The service's own database: its `outbox` and `outbox_position`. */
  readonly db: Database;
  readonly bus: EventBus;
  readonly onError: (error: Error) => void;
  readonly timings?: Partial<RelayTimings>;
};

export type RelayTimings = {
  /** How long a dead relay blocks the others. */
  readonly leaseMs: number;
  /** The polling interval for rows without a signal, those of other processes. */
  readonly idlePollMs: number;
  /** The pause between rounds while there is work, in which rows accumulate into a batch. */
  readonly gatherMs: number;
  readonly maxBackOffMs: number;
};

export type Relay = {
  /** Call it after each commit that wrote events; it is cheap. */
  readonly wake: () => void;
  /** When the oldest row was written that is not published. */
  readonly unpublishedSince: () => Promise<Date | null>;
  /** When the oldest row of any outbox was written that consumers read in place, and that a group has not handled. */
  readonly unhandledSince: () => Promise<Date | null>;
  /** Finishes the current round and releases the lease. */
  readonly close: () => Promise<void>;
};

const BATCH = 500;

/** A pause until there may be more. */
const IDLE = -1;

const TIMINGS: RelayTimings = {
  leaseMs: 10_000,
  idlePollMs: 1_000,
  gatherMs: 150,
  maxBackOffMs: 5_000,
};

/** Without other processes, rows without a signal are those of one that died. */
const ALONE_POLLS = 2.5;

/** Publishes a service's outbox, in one of all its processes at a time. */
export function startRelay(options: RelayOptions): Relay {
  const timings = { ...TIMINGS, ...options.timings };
  const alarm = createAlarm();
  const stop = createAlarm();
  let closing = false;
  let failures = 0;
  // Known only while no other process publishes.
  let position: OutboxPosition | undefined;
  const lease = createLease(options.db, timings.leaseMs, (version) => {
    // Set back from outside: an idle relay stores no position, and so would not notice.
    if (position?.version !== version) position = undefined;
  });
  // Of the reading in progress: what it published, and how long it looked for more.
  let found = 0;
  let searchedMs = 0;

  const round = async (): Promise<number> => {
    try {
      // Without the lease, another process publishes, and finds these rows by its own poll.
      if (!(await lease.hold())) {
        position = undefined;
        return IDLE;
      }
      if ((position?.reading ?? null) === null) [found, searchedMs] = [0, 0];
      const startedAt = performance.now();
      const { published, ...next } = await publishPending(options.db, options.bus, BATCH, position);
      ({ position } = next);
      failures = 0;
      found += published;
      if (published < BATCH) searchedMs += performance.now() - startedAt;
      if (position === undefined || position.reading !== null) return 0;
      if (found === 0) return IDLE;
      // A transaction that runs for long makes readings skip many rows again: they must not take all the time.
      return Math.min(Math.max(timings.gatherMs, searchedMs), timings.maxBackOffMs);
    } catch (error) {
      position = undefined;
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
      if (pauseMs === IDLE) await alarm.sleep(idleMs(timings, lease));
      else if (pauseMs > 0) await stop.sleep(pauseMs);
    }
    await lease.release().catch(options.onError);
  };

  const readUnpublished = (): Promise<Unpublished> => findUnpublished(options.db);
  const unwatch = options.bus.watchOutbox?.(readUnpublished);
  const running = run();
  return {
    wake: alarm.ring,
    unpublishedSince: async () => (await readUnpublished()).since,
    unhandledSince: async () => (await options.bus.unhandledSince?.()) ?? null,
    async close() {
      closing = true;
      unwatch?.();
      alarm.ring();
      stop.ring();
      await running;
    },
  };
}

/** The relays of a process poll at the same times, so that they wake it once. */
const idleMs = ({ idlePollMs }: RelayTimings, lease: Pick<Lease, "isAlone">): number =>
  untilSharedTick(idlePollMs * (lease.isAlone() ? ALONE_POLLS : 1));

type Lease = {
  readonly hold: () => Promise<boolean>;
  /** Whether it is held, and no other process waits for it. */
  readonly isAlone: () => boolean;
  readonly release: () => Promise<void>;
};

/**
 * The lease of the relay, a row that its owner renews. The clock of the database decides its end. Each renewal returns the version of
 * the stored position. A process that does not get it says so in another row, so that the owner expects its events.
 */
function createLease(db: Database, leaseMs: number, onRenewed: (version: bigint) => void): Lease {
  const owner = randomUUID();
  let held = false;
  let isAlone = false;
  let renewAt = 0;
  return {
    async hold() {
      // Taken before the statement: the lease ends later than assumed, never earlier.
      const startedAt = performance.now();
      if (startedAt < renewAt) return held;
      const { rows } = await db.query<{ version: bigint | null; is_contended: boolean }>(
        `with held as (
           insert into outbox_position as lease (name, owner, expires_at)
           values ('relay', $1, clock_timestamp() + $2 * interval '1 millisecond')
               on conflict (name) do update
              set owner = excluded.owner, expires_at = excluded.expires_at
            where coalesce(lease.owner = excluded.owner or lease.expires_at <= clock_timestamp(), true)
          returning version
         ), waiting as (
           insert into outbox_position (name, owner, expires_at)
           select 'waiting', $1, clock_timestamp() + $2 * interval '1 millisecond'
            where not exists (select from held)
               on conflict (name) do update
              set owner = excluded.owner, expires_at = excluded.expires_at
         )
         select held.version,
                exists (select from outbox_position
                         where name = 'waiting' and owner <> $1 and expires_at > clock_timestamp()) as is_contended
           from (select) as always left join held on true`,
        [owner, leaseMs],
      );
      const [row] = rows;
      const version = row?.version ?? null;
      held = version !== null;
      isAlone = held && row?.is_contended === false;
      if (version !== null) onRenewed(version);
      renewAt = startedAt + leaseMs / (held ? 2 : 4);
      return held;
    },
    isAlone: () => isAlone,
    async release() {
      await db.query(
        "update outbox_position set owner = null, expires_at = null where name = 'relay' and owner = $1",
        [owner],
      );
    },
  };
}
