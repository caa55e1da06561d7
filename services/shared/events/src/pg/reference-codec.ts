import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

/** Rows of the outbox of a service, in the order of their events. */
export type Reference = {
  readonly schema: string;
  /** When the first and the last of them were written. */
  readonly since: Date;
  readonly until: Date;
  /** The numbers of the rows, ascending. */
  readonly seqs: readonly bigint[];
};

/** The first byte, beside those of `encodeBatch`. */
const REFERENCE = 2;

export const isReference = (bytes: Uint8Array): boolean => bytes[0] === REFERENCE;

/** A row takes a byte or two: its distance from the one before it. */
export function encodeReference({ schema, since, until, seqs }: Reference): Uint8Array {
  const writer = new BinaryWriter();
  writer.raw(Uint8Array.of(REFERENCE)).string(schema);
  writer.int64(since.getTime()).int64(until.getTime() - since.getTime());
  let before = 0n;
  for (const seq of seqs) {
    writer.uint64(seq - before);
    before = seq;
  }
  return writer.finish();
}

export function decodeReference(bytes: Uint8Array): Reference {
  const reader = new BinaryReader(bytes.subarray(1));
  const schema = reader.string();
  const since = Number(reader.int64());
  const until = since + Number(reader.int64());
  const seqs: bigint[] = [];
  let before = 0n;
  while (reader.pos < reader.len) {
    before += BigInt(reader.uint64());
    seqs.push(before);
  }
  return { schema, since: new Date(since), until: new Date(until), seqs };
}
