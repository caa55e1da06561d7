import type { Consumer, ConsumerConfig, EachBatchPayload, Kafka } from "kafkajs";

import { createAlarm } from "../alarm.ts";
import type { Subscription } from "../bus.ts";
import { within } from "../deadline.ts";
import { asError } from "../delivery.ts";
import { createHandlerRunner, type HandlerRunnerOptions } from "../handler-runner.ts";
import { PARTITIONS } from "../partition.ts";
import { rejectUndecodable } from "./message.ts";
import { KafkaReader } from "./reader.ts";
import { isRetriable, RETRY } from "./retry.ts";
import type { Topics } from "./topics.ts";

export type KafkaConsumerTimings = {
  /** A member without a heartbeat for this long loses its partitions. */
  readonly sessionMs: number;
  readonly heartbeatMs: number;
  /** How long a broker waits for events before it responds without any. */
  readonly fetchWaitMs: number;
  /** Handlers that take longer continue beside the reading of the other partitions. */
  readonly handoverMs: number;
  /** A consumer that has not read for this long is replaced. */
  readonly silenceMs: number;
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
};

export type KafkaSubscriptionOptions = HandlerRunnerOptions & {
  readonly kafka: Kafka;
  readonly topics: readonly string[];
  readonly catalog: Topics;
  readonly timings: KafkaConsumerTimings;
  /** Maximum number of events per call of a handler. */
  readonly batch: number;
};

/** Brokers that start, or choose another coordinator, reject members for some seconds. */
const QUIET_FAILURES = 2;

const MAX_FETCH_BYTES = 4_194_304;

/** Joins the group in the background, as soon as a broker responds. */
export function startSubscription(options: KafkaSubscriptionOptions): Omit<Subscription, "poll"> {
  const closing = new AbortController();
  const supervisor = new Supervisor(options, closing.signal);
  const running = supervisor.run();
  return {
    async close(deadlineMs) {
      const endsAt = performance.now() + deadlineMs;
      closing.abort(new Error("the subscription closes"));
      await supervisor.finish(deadlineMs * 0.8);
      await within(running, Math.max(endsAt - performance.now(), 0));
    },
  };
}

/**
 * Keeps one consumer of kafkajs alive. That library ends a consumer for good after some errors, while the process
 * lives on; so a consumer that crashes or no longer reads is replaced by a new one.
 */
class Supervisor {
  readonly #options: KafkaSubscriptionOptions;
  readonly #closing: AbortSignal;
  readonly #closed: Promise<unknown>;
  readonly #alarm = createAlarm();
  #reader: KafkaReader | undefined;

  constructor(options: KafkaSubscriptionOptions, closing: AbortSignal) {
    this.#options = options;
    this.#closing = closing;
    this.#closed = new Promise((resolve) => {
      closing.addEventListener("abort", resolve);
    });
    closing.addEventListener("abort", this.#alarm.ring);
  }

  async run(): Promise<void> {
    const { timings, onError } = this.#options;
    for (let failures = 0; !this.#closing.aborted;) {
      const startedAt = performance.now();
      try {
        await this.#consume();
      } catch (error) {
        if (this.#closing.aborted) return;
        if (failures >= QUIET_FAILURES || !isRetriable(error)) onError(asError(error));
        this.#options.catalog.recheck();
      }
      if (performance.now() - startedAt > timings.silenceMs) failures = 0;
      failures += 1;
      const backOffMs = timings.backOffMs * 2 ** Math.min(failures, 20);
      if (!this.#closing.aborted)
        await this.#alarm.sleep(Math.min(backOffMs, timings.maxBackOffMs));
    }
  }

  /** Lets handlers finish within `ms`, then aborts them. */
  async finish(ms: number): Promise<void> {
    const reader = this.#reader;
    if (reader === undefined) return;
    await within(reader.finish(), ms);
    reader.abort();
  }

  /** Runs one consumer until it fails or the subscription closes. */
  async #consume(): Promise<void> {
    const { kafka, group, topics, catalog, timings } = this.#options;
    // Without a broker, the subscriptions of a process try one after the other, each for some seconds.
    await Promise.race([catalog.ensure(topics), this.#closed]);
    if (this.#closing.aborted) return;
    const consumer = kafka.consumer({ ...consumerSettings(timings), groupId: group });
    const reader = new KafkaReader({
      consumer,
      runner: createHandlerRunner(
        { ...this.#options, handler: rejectUndecodable(this.#options.handler) },
        this.#closing,
      ),
      handoverMs: timings.handoverMs,
      batch: this.#options.batch,
      onError: this.#options.onError,
      closing: this.#closing,
    });
    let seenAt = performance.now();
    let failure: Error | undefined;
    const { CRASH, FETCH, GROUP_JOIN } = consumer.events;
    const fail = (error: Error): void => {
      failure = error;
      this.#alarm.ring();
    };
    consumer.on(CRASH, ({ payload }) => fail(payload.error));
    consumer.on(FETCH, () => void (seenAt = performance.now()));
    consumer.on(GROUP_JOIN, ({ payload }) => {
      seenAt = performance.now();
      reader.assign(payload.memberAssignment);
    });
    this.#reader = reader;
    // Not awaited: joining a group can hang as reading can.
    startReading(consumer, topics, reader).catch((error: unknown) => fail(asError(error)));
    try {
      while (!this.#closing.aborted && failure === undefined) {
        await this.#alarm.sleep(timings.silenceMs / 4);
        if (performance.now() - seenAt > timings.silenceMs)
          throw new Error(`the consumer of ${group} has not read for ${timings.silenceMs} ms`);
      }
      if (failure !== undefined) throw failure;
      await reader.finish();
    } finally {
      reader.abort();
      await end(consumer, timings);
      this.#reader = undefined;
    }
  }
}

/** Joins the group, and passes what the consumer fetches to the reader. */
async function startReading(
  consumer: Consumer,
  topics: readonly string[],
  reader: KafkaReader,
): Promise<void> {
  await consumer.connect();
  await consumer.subscribe({ topics: [...topics], fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    // All partitions of a fetch are passed on together: the reader itself limits what is handled concurrently. kafkajs
    // starts as many workers at every fetch, so no more than there are.
    partitionsConsumedConcurrently: topics.length * PARTITIONS,
    eachBatch: (payload: EachBatchPayload) => reader.read(payload),
  });
}

/** A broken connection must not delay the next consumer. */
async function end(consumer: Consumer, { sessionMs }: KafkaConsumerTimings): Promise<void> {
  await within(
    consumer.disconnect().catch(() => {}),
    sessionMs,
  );
}

const consumerSettings = (timings: KafkaConsumerTimings): Omit<ConsumerConfig, "groupId"> => ({
  sessionTimeout: timings.sessionMs,
  rebalanceTimeout: timings.sessionMs,
  heartbeatInterval: timings.heartbeatMs,
  maxWaitTimeInMs: timings.fetchWaitMs,
  maxBytes: MAX_FETCH_BYTES,
  allowAutoTopicCreation: false,
  // The supervisor replaces it instead.
  retry: { ...RETRY, restartOnFailure: async () => false },
});
