import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import type { EventEnvelope } from "../bus.ts";

/** The first byte of the encoded events: how the rest is stored. */
const PLAIN = 0;
const ZSTD = 1;

/** Below it, compression saves little and takes longer than everything else. */
const WORTH_COMPRESSING = 512;
/** The fastest level: events of a batch resemble each other so much that others save little more. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Numbers of the fields of an event in the encoded batch; they never change. */
const FIELD = { id: 1, projectId: 2, key: 3, type: 4, headers: 5, payload: 6, occurredAt: 7 };

const tagOf = (field: number, type: WireType): number => field * 8 + type;

/** Encodes events of one topic; `size` is their number of bytes before compression. */
export function encodeBatch(events: readonly Omit<EventEnvelope, "topic">[]): {
  readonly bytes: Buffer;
  readonly size: number;
} {
  const writer = new BinaryWriter();
  for (const event of events) {
    writer.fork();
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
    writer.join();
  }
  const plain = writer.finish();
  const size = plain.byteLength;
  if (size < WORTH_COMPRESSING) return { bytes: Buffer.concat([Buffer.of(PLAIN), plain]), size };
  return { bytes: Buffer.concat([Buffer.of(ZSTD), zstdCompressSync(plain, LEVEL)]), size };
}

export function decodeBatch(bytes: Uint8Array): readonly Omit<EventEnvelope, "topic">[] {
  const stored = bytes.subarray(1);
  if (bytes[0] !== PLAIN && bytes[0] !== ZSTD) {
    throw new Error(`a batch is stored in the unknown form ${bytes[0]}`);
  }
  const reader = new BinaryReader(bytes[0] === ZSTD ? zstdDecompressSync(stored) : stored);
  const events: Omit<EventEnvelope, "topic">[] = [];
  while (reader.pos < reader.len) events.push(decodeEvent(reader));
  return events;
}

function decodeEvent(reader: BinaryReader): Omit<EventEnvelope, "topic"> {
  const event = { ...EMPTY };
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const [field, wireType] = reader.tag();
    if (field === FIELD.id) event.id = reader.string();
    else if (field === FIELD.projectId) event.projectId = reader.string();
    else if (field === FIELD.key) event.key = reader.string();
    else if (field === FIELD.type) event.type = reader.string();
    else if (field === FIELD.headers) event.headers = parseHeaders(reader.string());
    else if (field === FIELD.payload) event.payload = reader.bytes();
    else if (field === FIELD.occurredAt) event.occurredAt = new Date(Number(reader.int64()));
    else reader.skip(wireType, field);
  }
  return event;
}

const parseHeaders = (text: string): EventEnvelope["headers"] =>
  JSON.parse(text) as EventEnvelope["headers"];

type Decoded = { -readonly [Field in keyof Omit<EventEnvelope, "topic">]: EventEnvelope[Field] };

const EMPTY: Decoded = {
  id: "",
  projectId: "",
  key: "",
  payload: new Uint8Array(),
  headers: {},
  occurredAt: new Date(0),
};
