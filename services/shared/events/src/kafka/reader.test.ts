import type { Consumer, EachBatchPayload } from "kafkajs";
import { expect, test } from "vitest";

import { type KafkaReaderOptions, KafkaReader } from "./reader.ts";

const PLACE = { topic: "scrip.orders.v1", partition: 3 };

/** What kafkajs passes for a fetch of one record, and records of what the reader does with it. */
function fetched(done: string[]): EachBatchPayload {
  const record = { offset: "7", key: null, value: Buffer.from("x"), timestamp: "0" };
  const payload: Partial<EachBatchPayload> = {
    batch: { ...PLACE, messages: [record], lastOffset: () => "7" } as never,
    isRunning: () => true,
    isStale: () => false,
    pause: () => {
      done.push("pause");
      return () => void done.push("resume");
    },
    resolveOffset: (offset) => void done.push(`resolve ${offset}`),
    commitOffsetsIfNecessary: async () => void done.push("commit"),
  };
  return payload as EachBatchPayload;
}

function startReader(handoverMs: number) {
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const consumer: Partial<Consumer> = {
    commitOffsets: async () => void done.push("commit"),
    seek: ({ offset }) => void done.push(`seek ${offset}`),
    resume: () => {},
  };
  const options: KafkaReaderOptions = {
    consumer: consumer as Consumer,
    runner: { handleAlone: () => gate.promise, handleTogether: async () => false },
    handoverMs,
    batch: 100,
    onError: (error) => done.push(error.message),
    closing: new AbortController().signal,
  };
  return { reader: new KafkaReader(options), done, finishHandler: gate.resolve };
}

const ASSIGNED_AGAIN = { [PLACE.topic]: [PLACE.partition] };

test.each([
  { handler: "short", handoverMs: 60_000, paused: ["pause"] },
  { handler: "long", handoverMs: 0, paused: ["pause", "pause"] },
])("stores no offset of a $handler handler that began before the last rebalance", async (one) => {
  const { reader, done, finishHandler } = startReader(one.handoverMs);
  const first = reader.read(fetched(done));
  if (one.handoverMs === 0) await first;
  reader.assign(ASSIGNED_AGAIN);
  await reader.read(fetched(done));
  finishHandler();
  await first;
  await reader.finish();
  expect(done).toEqual([...one.paused, "resume"]);
});

test("resumes a partition that was fetched again while its handler was running", async () => {
  const { reader, done, finishHandler } = startReader(60_000);
  const first = reader.read(fetched(done));
  await reader.read(fetched(done));
  expect(done).toEqual(["pause"]);
  finishHandler();
  await first;
  expect(done).toEqual(["pause", "commit", "resolve 7", "resume"]);
});

test("resumes a partition after the records whose handler took long", async () => {
  const { reader, done, finishHandler } = startReader(0);
  await reader.read(fetched(done));
  expect(done).toEqual(["pause"]);
  finishHandler();
  await reader.finish();
  expect(done).toEqual(["pause", "commit", "seek 8", "resume"]);
});

test("stores the offsets of partitions that end together in one request", async () => {
  const { reader, finishHandler } = startReader(60_000);
  const requests: unknown[] = [];
  const commitOffsetsIfNecessary: EachBatchPayload["commitOffsetsIfNecessary"] = async (offsets) =>
    void requests.push(offsets);
  const reading = [3, 4, 5].map((partition) => {
    const payload = fetched([]);
    Object.assign(payload.batch, { partition });
    return reader.read({ ...payload, commitOffsetsIfNecessary });
  });
  finishHandler();
  await Promise.all(reading);
  const partitions = [3, 4, 5].map((partition) => ({ partition, offset: "8" }));
  expect(requests).toEqual([{ topics: [{ topic: PLACE.topic, partitions }] }]);
});
