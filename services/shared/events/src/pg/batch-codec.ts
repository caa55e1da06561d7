import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

import { readEvent, type StoredEvent, writeEvent } from "../event-codec.ts";

/** The first byte of the encoded events: how the rest is stored. */
const PLAIN = 0;
const ZSTD = 1;

/** Below it, compression saves little and takes longer than everything else. */
const WORTH_COMPRESSING = 512;
/** The fastest level: events of a batch resemble each other so much that others save little more. */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Encodes events of one topic; `size` is their number of bytes before compression. */
export function encodeBatch(events: readonly StoredEvent[]): {
  readonly bytes: Buffer;
  readonly size: number;
} {
  const writer = new BinaryWriter();
  for (const event of events) {
    writer.fork();
    writeEvent(writer, event);
    writer.join();
  }
  const plain = writer.finish();
  const size = plain.byteLength;
  if (size < WORTH_COMPRESSING) return { bytes: Buffer.concat([Buffer.of(PLAIN), plain]), size };
  return { bytes: Buffer.concat([Buffer.of(ZSTD), zstdCompressSync(plain, LEVEL)]), size };
}

export function decodeBatch(bytes: Uint8Array): readonly StoredEvent[] {
  const stored = bytes.subarray(1);
  if (bytes[0] !== PLAIN && bytes[0] !== ZSTD) {
    throw new Error(`a batch is stored in the unknown form ${bytes[0]}`);
  }
  const reader = new BinaryReader(bytes[0] === ZSTD ? zstdDecompressSync(stored) : stored);
  const events: StoredEvent[] = [];
  while (reader.pos < reader.len) {
    const size = reader.uint32();
    events.push(readEvent(reader, reader.pos + size));
  }
  return events;
}
