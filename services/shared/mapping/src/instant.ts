import type { Timestamp } from "@bufbuild/protobuf/wkt";

/** Converts epoch milliseconds. */
export const instantToProto = (instant: number): Timestamp => {
  const seconds = Math.floor(instant / 1000);
  return {
    $typeName: "google.protobuf.Timestamp",
    seconds: BigInt(seconds),
    nanos: (instant - seconds * 1000) * 1_000_000,
  };
};

export const instantFromProto = ({ seconds, nanos }: Timestamp): number =>
  Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);

export const optionalInstantToProto = (instant: number | null): Timestamp | undefined =>
  instant === null ? undefined : instantToProto(instant);

export const optionalInstantFromProto = (timestamp: Timestamp | undefined): number | null =>
  timestamp === undefined ? null : instantFromProto(timestamp);
