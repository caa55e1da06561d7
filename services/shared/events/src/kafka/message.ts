import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { KafkaMessage, Message } from "kafkajs";

import type { DeliveredEvent, EventEnvelope, EventHandler } from "../bus.ts";
import { readEvent, writeEvent } from "../event-codec.ts";
import { partitionOf } from "../partition.ts";

/** Kafka's own clients choose the same partition for this key. */
export const messageOf = (event: EventEnvelope): Message & { readonly value: Buffer } => ({
  key: `${event.projectId}:${event.key}`,
  value: encodeEvent(event),
  partition: partitionOf(event.projectId, event.key),
  timestamp: String(event.occurredAt.getTime()),
});

function encodeEvent(event: EventEnvelope): Buffer {
  const writer = new BinaryWriter();
  writeEvent(writer, event);
  return Buffer.from(writer.finish());
}

export type TopicPartition = { readonly topic: string; readonly partition: number };

/** Why a record is not an event. */
const undecodable = new WeakMap<DeliveredEvent, Error>();

/** The events of records; one that cannot be decoded fails in `rejectUndecodable`. A deleted key has no event. */
export const eventsOf = (at: TopicPartition, records: readonly KafkaMessage[]): DeliveredEvent[] =>
  records.flatMap((record) => (record.value === null ? [] : [eventOf(at, record.value, record)]));

function eventOf(
  { topic, partition }: TopicPartition,
  value: Buffer,
  { key, offset, timestamp }: KafkaMessage,
): DeliveredEvent {
  const at = { topic, partition, offset: BigInt(offset) };
  try {
    const reader = new BinaryReader(value);
    const event = readEvent(reader, reader.len);
    if (event.id === "") throw new Error("it has no id");
    return { ...event, ...at };
  } catch (cause) {
    const raw: DeliveredEvent = {
      ...at,
      id: `${topic}:${partition}:${offset}`,
      projectId: "",
      key: key?.toString() ?? "",
      payload: value,
      headers: {},
      occurredAt: new Date(Number(timestamp)),
    };
    undecodable.set(raw, new Error("the record is not an event", { cause }));
    return raw;
  }
}

/** Rejects records that are not events, so that they become dead letters. */
export const rejectUndecodable =
  (handler: EventHandler): EventHandler =>
  (batch, context) => {
    for (const event of batch) {
      const error = undecodable.get(event);
      if (error !== undefined) return Promise.reject(error);
    }
    return handler(batch, context);
  };
