import { setTimeout as pause } from "node:timers/promises";

import { createBatcher } from "@scrip/batching";
import type { Consumer, EachBatchPayload, KafkaMessage, OffsetsByTopicPartition } from "kafkajs";

import type { DeliveredEvent } from "../bus.ts";
import { within } from "../deadline.ts";
import { asError } from "../delivery.ts";
import { type Fetched, groupSmallBatches, type HandlerRunner } from "../handler-runner.ts";
import { eventsOf, type TopicPartition } from "./message.ts";

export type KafkaReaderOptions = {
  readonly consumer: Consumer;
  readonly runner: HandlerRunner;
  /** Handlers that take longer continue beside the reading of the other partitions. */
  readonly handoverMs: number;
  /** Maximum number of events per call of a handler. */
  readonly batch: number;
  readonly onError: (error: Error) => void;
  readonly closing: AbortSignal;
};

type Work = Fetched & {
  /** The offset after the records. */
  readonly next: bigint;
  /** Starts the handler; `together` tells whether it has handled the events with those of other partitions. */
  readonly start: (together: Promise<boolean> | undefined) => void;
  /** Rejects when the partition is lost, even while the handler is running. */
  readonly done: Promise<void>;
  /** Ends the pause of the partition, which lasts as long as the work. */
  resume: (() => void) | undefined;
  /** How often the member had joined the group when the work began. */
  readonly join: number;
};

type Commit = { readonly work: Work; readonly payload: EachBatchPayload };

/** Larger than the number of partitions that a consumer reads. */
const MAX_COMMITS = 1_000;

const keyOf = ({ topic, partition }: TopicPartition): string => `${partition}:${topic}`;

/** Passes the records of one consumer to its handler. */
export class KafkaReader {
  readonly #options: KafkaReaderOptions;
  readonly #working = new Map<string, Work>();
  /** How often the member has joined the group. */
  #joins = 0;
  /** The work of one fetch, whose partitions arrive together. */
  #arrived: Work[] = [];
  /**
   * Stores the offset of handled records; resolves whether it may be stored. Partitions of a fetch end together, and share a
   * request.
   */
  readonly #commit = createBatcher<Commit, boolean>({
    lanes: 1,
    maxBatch: MAX_COMMITS,
    send: (commits) => this.#sendCommits(commits),
  });

  constructor(options: KafkaReaderOptions) {
    this.#options = options;
  }

  /**
   * Handles records of a partition. A handler that takes long continues in the background, while the partition is
   * paused, so that neither other partitions nor heartbeats wait for it.
   */
  async read(payload: EachBatchPayload): Promise<void> {
    const { closing, batch: size } = this.#options;
    const { topic, partition, messages } = payload.batch;
    const underway = this.#working.get(keyOf({ topic, partition }));
    if (underway !== undefined) {
      // After a rebalance, kafkajs reads again from the committed offset.
      underway.resume = payload.pause();
      return;
    }
    const joins = this.#joins;
    for (let start = 0; start < messages.length; start += size) {
      // The remaining records of the fetch belong to an earlier assignment.
      if (joins !== this.#joins) return;
      if (closing.aborted || !payload.isRunning() || payload.isStale()) return;
      if (start > 0) await payload.heartbeat();
      const records = messages.slice(start, start + size);
      const isEnd = start + size >= messages.length;
      const last = isEnd ? payload.batch.lastOffset() : (records.at(-1)?.offset ?? "");
      if (!(await this.#handle(payload, records, last))) return;
    }
  }

  /** Ends the work on partitions that are no longer assigned to this member. */
  assign(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#joins += 1;
    for (const [key, work] of this.#working) {
      const { topic, partition, lost } = work.partition;
      if (assignment[topic]?.includes(partition) === true) continue;
      lost.abort(new Error("the partition was assigned to another member"));
      this.#working.delete(key);
    }
    // kafkajs keeps partitions paused that this member lost and has got back.
    this.#options.consumer.resume(
      Object.entries(assignment).map(([topic, partitions]) => ({
        topic,
        partitions: partitions.filter(
          (partition) => !this.#working.has(keyOf({ topic, partition })),
        ),
      })),
    );
  }

  /** Waits for the running handlers, and stores their offsets. */
  async finish(): Promise<void> {
    while (this.#working.size > 0) {
      await Promise.allSettled([...this.#working.values()].map(({ done }) => done));
      // Their offsets are being stored.
      await pause(1);
    }
  }

  /** Aborts the running handlers. */
  abort(): void {
    for (const { partition } of this.#working.values())
      partition.lost.abort(new Error("the consumer has ended"));
  }

  /** Handles records of a partition; returns whether the next ones of the fetch may follow. */
  async #handle(
    payload: EachBatchPayload,
    records: readonly KafkaMessage[],
    last: string,
  ): Promise<boolean> {
    const { topic, partition } = payload.batch;
    const next = BigInt(last) + 1n;
    const work = this.#begin({ topic, partition }, eventsOf({ topic, partition }, records), next);
    if (
      !(await within(
        work.done.catch(() => {}),
        this.#options.handoverMs,
      ))
    ) {
      work.resume = payload.pause();
      void this.#continueInBackground(work);
      return false;
    }
    try {
      await work.done;
      if (!(await this.#commit({ work, payload }))) return false;
      payload.resolveOffset(last);
      return true;
    } catch (error) {
      if (this.#isExpected(work)) return false;
      throw error;
    } finally {
      this.#forget(work);
    }
  }

  async #sendCommits(commits: readonly Commit[]): Promise<readonly boolean[]> {
    const isStorable = commits.map(({ work }) => !this.#isFromEarlierJoin(work));
    const storable = commits.filter((_, index) => isStorable[index]);
    const [first] = storable;
    await first?.payload.commitOffsetsIfNecessary(offsetsAfter(storable.map(({ work }) => work)));
    return isStorable;
  }

  #begin(at: TopicPartition, batch: readonly DeliveredEvent[], next: bigint): Work {
    const lost = new AbortController();
    const fetched = { partition: { ...at, lost }, batch };
    const started = Promise.withResolvers<boolean | undefined>();
    const handle = async (): Promise<void> => {
      const isHandled = await started.promise;
      if (isHandled !== true) await this.#options.runner.handleAlone(fetched);
    };
    const done = Promise.race([handle(), rejectWhenAborted(lost.signal)]);
    done.catch(() => {});
    const work: Work = {
      ...fetched,
      next,
      start: started.resolve,
      done,
      resume: undefined,
      join: this.#joins,
    };
    this.#working.set(keyOf(at), work);
    if (this.#arrived.length === 0) setImmediate(() => this.#startArrived());
    this.#arrived.push(work);
    return work;
  }

  #startArrived(): void {
    const { runner, batch } = this.#options;
    const works = this.#arrived;
    this.#arrived = [];
    const workOf = new Map(works.map((work) => [work.partition, work]));
    for (const group of groupSmallBatches(works, batch)) {
      const together = group.length === 1 ? undefined : runner.handleTogether(group);
      for (const { partition } of group) workOf.get(partition)?.start(together);
    }
  }

  /** Completes work that outlasts its fetch; its partition is paused until then. */
  async #continueInBackground(work: Work): Promise<void> {
    const { consumer, onError } = this.#options;
    const { topic, partition } = work.partition;
    const offset = String(work.next);
    try {
      await work.done;
      if (this.#isFromEarlierJoin(work)) return;
      try {
        await consumer.commitOffsets([{ topic, partition, offset }]);
      } finally {
        // Last: a rebalance before the commit would reset the position.
        if (this.#isCurrent(work) && !this.#isFromEarlierJoin(work))
          consumer.seek({ topic, partition, offset });
      }
    } catch (error) {
      if (!this.#isExpected(work)) onError(asError(error));
    } finally {
      this.#forget(work);
    }
  }

  /** Whether a failure is that of a lost partition, or of the end of the subscription. */
  #isExpected(work: Work): boolean {
    return work.partition.lost.signal.aborted || this.#options.closing.aborted;
  }

  /**
   * Whether the member has joined the group again since the work began. Its offset is not stored then: the topic may have
   * been created anew, where it would skip events. Reading continues from the stored offset.
   */
  #isFromEarlierJoin({ join }: Work): boolean {
    return join !== this.#joins;
  }

  #isCurrent(work: Work): boolean {
    return this.#working.get(keyOf(work.partition)) === work;
  }

  #forget(work: Work): void {
    if (!this.#isCurrent(work)) return;
    this.#working.delete(keyOf(work.partition));
    if (!this.#options.closing.aborted) work.resume?.();
  }
}

function offsetsAfter(works: readonly Work[]): OffsetsByTopicPartition {
  const ofTopics = Map.groupBy(works, ({ partition }) => partition.topic);
  return {
    topics: [...ofTopics].map(([topic, ofTopic]) => ({
      topic,
      partitions: ofTopic.map(({ partition: { partition }, next }) => ({
        partition,
        offset: String(next),
      })),
    })),
  };
}

const rejectWhenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(asError(signal.reason)), { once: true });
  });
