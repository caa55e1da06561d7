import { randomUUID } from "node:crypto";

import { untilSharedTick } from "@scrip/clock";

import { createAlarm } from "../alarm.ts";
import type { Subscription } from "../bus.ts";
import { within } from "../deadline.ts";
import { asError } from "../delivery.ts";
import {
  createHandlerRunner,
  type Fetched,
  type HandlerRunner,
  type HandlerRunnerOptions,
  groupSmallBatches,
} from "../handler-runner.ts";
import {
  createOffsets,
  type GroupStore,
  leaveGroup,
  type Member,
  assignPartitions,
  releasePartitions,
} from "./group.ts";
import type { LogReader, PartitionBatch } from "./log-reader.ts";
import { keyOf, type LogEnds, type PartitionId } from "./log.ts";
import {
  followClaims,
  dropPartition,
  type OwnedPartition,
  type OwnedPartitions,
} from "./partitions.ts";

export type ConsumerTimings = {
  /** A member without a heartbeat for this long loses its partitions. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** How often a process checks for events of others, once for all its members. */
  readonly idlePollMs: number;
  /** The same interval while events arrive; they accumulate into batches. */
  readonly busyPollMs: number;
  /** How long after the last event a member still counts as busy. */
  readonly busyForMs: number;
};

export type ConsumerOptions = HandlerRunnerOptions & {
  readonly topics: readonly string[];
  readonly read: LogReader["read"];
  readonly store: GroupStore;
  readonly timings: ConsumerTimings;
  /** Maximum number of events per call of a handler. */
  readonly batch: number;
};

export type PgSubscription = Omit<Subscription, "poll"> & {
  /** Signals new events in these topics, which may belong to other subscriptions. */
  readonly wake: (topics: ReadonlySet<string>) => void;
  /** Whether a partition that it reads is before the end of its topic. */
  readonly isBehind: (ends: LogEnds) => boolean;
  /** Reads now, without expecting more. */
  readonly read: () => void;
  /** Stops without storing or releasing anything, as a killed process does. */
  readonly crash: () => void;
};

/**
 * How many leases the rows of the partitions are claimed for. The heartbeats prove that their owner lives; the rows, of which
 * a process has hundreds, are renewed only for processes of earlier releases, which know nothing else.
 */
const CLAIMED_LEASES = 6;

/** A timer may fire some milliseconds early. Members of a process send heartbeats together, in one statement. */
const EARLY_MS = 10;

/** Joins the group; the partitions follow with the first heartbeat. */
export async function startSubscription(options: ConsumerOptions): Promise<PgSubscription> {
  await createOffsets(options.db, options.group, options.topics);
  const consumer = new Consumer(options);
  const running = consumer.run();
  return {
    wake: (topics) => consumer.wake(topics),
    isBehind: (ends) => consumer.isBehind(ends),
    read: () => consumer.readNow(),
    crash: () => consumer.crash(),
    close: (deadlineMs) => consumer.close(running, deadlineMs),
  };
}

/**
 * One member of a group. A single loop maintains leases and offsets and reads; events are handled
 * beside it, so that a stuck partition delays neither the others nor the heartbeat.
 */
class Consumer {
  readonly #options: ConsumerOptions;
  readonly #self: Member;
  readonly #owned: OwnedPartitions = new Map();
  readonly #alarm = createAlarm();
  readonly #runner: HandlerRunner;
  /** The keys of the assigned partitions; other owned ones must be released. */
  #assigned: ReadonlySet<string> = new Set();
  /** Aborts on close: running handlers may finish, but nothing is retried. */
  readonly #closing = new AbortController();
  #state: "running" | "closing" | "crashed" = "running";
  #beatAt = 0;
  #leaseEndsAt = 0;
  /** When the rows of the partitions are renewed. */
  #renewAt = 0;
  #busyUntil = 0;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    this.#self = { member: randomUUID(), topics: options.topics };
    this.#runner = createHandlerRunner(options, this.#closing.signal);
  }

  wake(topics: ReadonlySet<string>): void {
    if (!this.#options.topics.some((topic) => topics.has(topic))) return;
    this.#stayBusy();
    this.#alarm.ring();
  }

  isBehind(ends: LogEnds): boolean {
    return [...this.#owned.values()].some(
      ({ topic, offset, delivery }) => delivery === undefined && (ends.get(topic) ?? 0n) > offset,
    );
  }

  readNow(): void {
    this.#alarm.ring();
  }

  crash(): void {
    this.#state = "crashed";
    for (const key of this.#owned.keys()) dropPartition(this.#owned, key);
    this.#alarm.ring();
  }

  async run(): Promise<void> {
    const { onError } = this.#options;
    while (this.#state === "running") {
      let trouble = false;
      try {
        await this.#beat();
        await this.#commit("handled");
        await this.#read();
      } catch (error) {
        trouble = true;
        if (this.#isRunning()) onError(asError(error));
      }
      if (!this.#isRunning()) return;
      await this.#alarm.sleep(this.#pauseMs(trouble));
    }
  }

  /** An idle member sleeps until its next heartbeat: what other processes publish wakes it. */
  #pauseMs(trouble: boolean): number {
    const { busyPollMs, idlePollMs } = this.#options.timings;
    const now = performance.now();
    if (!trouble && now < this.#busyUntil) return busyPollMs;
    const isWorking = [...this.#owned.values()].some(
      ({ delivery, handled, committed }) => delivery !== undefined || handled > committed,
    );
    if (trouble || isWorking) return untilSharedTick(idlePollMs, now);
    return Math.max(Math.ceil(this.#beatAt - now), 0);
  }

  /**
   * Most of the time is for the handlers; the rest is for storing offsets and releasing the
   * partitions, so that others need not wait for the leases to expire.
   */
  async close(running: Promise<void>, deadlineMs: number): Promise<void> {
    const endsAt = performance.now() + deadlineMs;
    this.#state = "closing";
    this.#closing.abort(new Error("the subscription closes"));
    this.#alarm.ring();
    await within(this.#finish(running), deadlineMs * 0.8);
    for (const { delivery, lost } of this.#owned.values()) {
      if (delivery !== undefined) lost.abort(new Error("the close deadline has passed"));
    }
    await within(this.#leave(), Math.max(endsAt - performance.now(), 0));
  }

  async #finish(running: Promise<void>): Promise<void> {
    await running;
    await Promise.all([...this.#owned.values()].map(async ({ delivery }) => delivery));
  }

  async #leave(): Promise<void> {
    const { db, group, timings, onError } = this.#options;
    try {
      await this.#commit("read");
      const finished = [...this.#owned.values()].filter(({ delivery }) => delivery === undefined);
      await releasePartitions(db, group, this.#self.member, finished);
      await leaveGroup(db, { ...this.#self, group, leaseMs: timings.leaseMs });
    } catch (error) {
      onError(asError(error));
    }
  }

  #isRunning(): boolean {
    return this.#state === "running";
  }

  #stayBusy(): void {
    this.#busyUntil = performance.now() + this.#options.timings.busyForMs;
  }

  /** Computes the assignment and renews the lease. */
  async #beat(): Promise<void> {
    const { store, group, timings } = this.#options;
    // Taken before the statements: the leases end later than assumed, never earlier.
    const startedAt = performance.now();
    if (startedAt < this.#beatAt - EARLY_MS) return;
    const { leaseMs, heartbeatMs } = timings;
    const { others, inTime } = await store.heartbeat({ ...this.#self, group, leaseMs });
    const assigned = assignPartitions([...others, this.#self], this.#self);
    this.#assigned = new Set(assigned.map(keyOf));
    await this.#commit("read");
    await this.#giveBack();
    const hasAll = (): boolean => assigned.every((partition) => this.#owned.has(keyOf(partition)));
    if (!inTime || !hasAll() || startedAt >= this.#renewAt - EARLY_MS)
      await this.#claim(assigned, startedAt);
    if (this.#state === "crashed") return;
    this.#leaseEndsAt = startedAt + leaseMs;
    // A partition of another owner becomes free soon, by its next heartbeat or the end of its
    // lease.
    this.#beatAt = startedAt + untilSharedTick(heartbeatMs / (hasAll() ? 1 : 3), startedAt);
  }

  async #claim(assigned: readonly PartitionId[], startedAt: number): Promise<void> {
    const { store, group, timings } = this.#options;
    const finishing = [...this.#owned.values()].filter(
      (partition) => !this.#assigned.has(keyOf(partition)),
    );
    const requested = [...assigned, ...finishing];
    const leaseMs = timings.leaseMs * CLAIMED_LEASES;
    const claims = await store.claim({ group, member: this.#self.member, requested, leaseMs });
    if (this.#state === "crashed") return;
    followClaims(this.#owned, claims);
    this.#renewAt = startedAt + untilSharedTick(leaseMs / 3, startedAt);
  }

  async #giveBack(): Promise<void> {
    const { db, group } = this.#options;
    const leaving = [...this.#owned.values()].filter(
      (partition) => !this.#assigned.has(keyOf(partition)) && partition.delivery === undefined,
    );
    if (leaving.length === 0) return;
    await releasePartitions(db, group, this.#self.member, leaving);
    for (const partition of leaving) dropPartition(this.#owned, keyOf(partition));
  }

  /**
   * Stores the offsets of partitions that handled events, or that only read past events of other
   * partitions, which is not urgent: they would be skipped again.
   */
  async #commit(what: "handled" | "read"): Promise<void> {
    const { store, group } = this.#options;
    const ahead = [...this.#owned.values()].filter(
      ({ offset, handled, committed }) => (what === "read" ? offset : handled) > committed,
    );
    if (ahead.length === 0) return;
    const done = ahead.map(({ topic, partition, epoch, offset }) => ({
      topic,
      partition,
      epoch,
      offset,
    }));
    const ours = await store.commit({ group, member: this.#self.member, done });
    const stillOwned = new Set(ours.map(keyOf));
    for (const commit of done) {
      const key = keyOf(commit);
      const partition = this.#owned.get(key);
      if (partition?.epoch !== commit.epoch) continue;
      if (stillOwned.has(key)) partition.committed = commit.offset;
      else dropPartition(this.#owned, key);
    }
  }

  /** Starts handling each idle partition that has events. */
  async #read(): Promise<void> {
    if (performance.now() > this.#leaseEndsAt) return;
    const idle = [...this.#owned.entries()].filter(
      ([key, partition]) => partition.delivery === undefined && this.#assigned.has(key),
    );
    if (idle.length === 0) return;
    const batches = await this.#options.read(
      idle.map(([, partition]) => partition),
      this.#options.batch,
    );
    if (!this.#isRunning() || performance.now() > this.#leaseEndsAt) return;
    const nextOffsets = new Map(batches.map((batch) => [keyOf(batch), batch.next]));
    const fetched = batches.flatMap((batch) => this.#take(batch));
    for (const fetchedGroup of groupSmallBatches(fetched, this.#options.batch)) {
      this.#stayBusy();
      const together =
        fetchedGroup.length === 1 ? undefined : this.#runner.handleTogether(fetchedGroup);
      for (const one of fetchedGroup) {
        const next = nextOffsets.get(keyOf(one.partition)) ?? one.partition.offset;
        one.partition.delivery = this.#deliver(one, next, together);
      }
    }
  }

  /** The events of a partition to handle. Without any, it has nothing to do but continue there. */
  #take({
    topic,
    partition: number,
    events,
    next,
  }: PartitionBatch): readonly Fetched<OwnedPartition>[] {
    const partition = this.#owned.get(keyOf({ topic, partition: number }));
    if (partition === undefined) return [];
    if (events.length > 0) return [{ partition, batch: events }];
    if (next > partition.offset) partition.offset = next;
    return [];
  }

  async #deliver(
    { partition, batch }: Fetched<OwnedPartition>,
    next: bigint,
    together?: Promise<boolean>,
  ): Promise<void> {
    const { onError } = this.#options;
    const { signal: lost } = partition.lost;
    try {
      const isDone = (await together) ?? false;
      if (!isDone) await this.#runner.handleAlone({ partition, batch });
      partition.offset = next;
      partition.handled = next;
    } catch (error) {
      if (!lost.aborted && !this.#closing.signal.aborted) onError(asError(error));
    } finally {
      partition.delivery = undefined;
    }
    if (!this.#assigned.has(keyOf(partition))) this.#beatAt = 0;
    else if (batch.length < this.#options.batch) return;
    this.#alarm.ring();
  }
}
