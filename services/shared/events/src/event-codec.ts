import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import type { EventEnvelope } from "./bus.ts";

/**
 * An event as both adapters store it, in the wire format of Protocol Buffers, without its topic. Written by hand, since
 * it is on the path of every event.
 */
export type StoredEvent = Omit<EventEnvelope, "topic">;

/** Numbers of the fields; they never change. */
const FIELD = {
  id: 1,
  projectId: 2,
  key: 3,
  type: 4,
  headers: 5,
  payload: 6,
  occurredAt: 7,
  schemaVersion: 8,
  entityVersion: 9,
  epoch: 10,
};

const tagOf = (field: number, type: WireType): number => field * 8 + type;

/** Writes the fields of an event, without its length. */
export function writeEvent(writer: BinaryWriter, event: StoredEvent): void {
  writer.uint32(tagOf(FIELD.id, WireType.LengthDelimited)).string(event.id);
  writer.uint32(tagOf(FIELD.projectId, WireType.LengthDelimited)).string(event.projectId);
  writer.uint32(tagOf(FIELD.key, WireType.LengthDelimited)).string(event.key);
  if (event.type !== undefined) {
    writer.uint32(tagOf(FIELD.type, WireType.LengthDelimited)).string(event.type);
  }
  const headers = JSON.stringify(event.headers);
  if (headers !== "{}") {
    writer.uint32(tagOf(FIELD.headers, WireType.LengthDelimited)).string(headers);
  }
  writer.uint32(tagOf(FIELD.payload, WireType.LengthDelimited)).bytes(event.payload);
  writer.uint32(tagOf(FIELD.occurredAt, WireType.Varint)).int64(event.occurredAt.getTime());
  if (event.schemaVersion !== undefined) {
    writer.uint32(tagOf(FIELD.schemaVersion, WireType.Varint)).uint32(event.schemaVersion);
  }
  if (event.entityVersion !== undefined) {
    writer.uint32(tagOf(FIELD.entityVersion, WireType.Varint)).int64(event.entityVersion);
  }
  if (event.epoch !== undefined) {
    writer.uint32(tagOf(FIELD.epoch, WireType.Varint)).uint32(event.epoch);
  }
}

/** Reads the fields of an event up to `end`. */
export function readEvent(reader: BinaryReader, end: number): StoredEvent {
  const event = { ...EMPTY };
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === FIELD.id) event.id = reader.string();
    else if (field === FIELD.projectId) event.projectId = reader.string();
    else if (field === FIELD.key) event.key = reader.string();
    else if (field === FIELD.type) event.type = reader.string();
    else if (field === FIELD.headers) event.headers = parseHeaders(reader.string());
    else if (field === FIELD.payload) event.payload = reader.bytes();
    else if (field === FIELD.occurredAt) event.occurredAt = new Date(Number(reader.int64()));
    else if (field === FIELD.schemaVersion) event.schemaVersion = reader.uint32();
    else if (field === FIELD.entityVersion) event.entityVersion = BigInt(reader.int64());
    else if (field === FIELD.epoch) event.epoch = reader.uint32();
    else reader.skip(wireType, field);
  }
  return event;
}

const parseHeaders = (text: string): EventEnvelope["headers"] =>
  JSON.parse(text) as EventEnvelope["headers"];

type Decoded = { -readonly [Field in keyof StoredEvent]: EventEnvelope[Field] };

const EMPTY: Decoded = {
  id: "",
  projectId: "",
  key: "",
  payload: new Uint8Array(),
  headers: {},
  occurredAt: new Date(0),
};
