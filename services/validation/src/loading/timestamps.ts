import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Instants are epoch milliseconds in decisions and Timestamps on the wire. */
export function toTimestamp(ms: number): Timestamp {
  const seconds = Math.floor(ms / 1000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (ms - seconds * 1000) * 1_000_000,
  };
}

export function fromTimestamp(timestamp: Timestamp): number {
  return Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
}
