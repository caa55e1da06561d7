import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { TimeRange } from "@scrip/filters";

/** The fields by which lists are limited to a time of creation. */
export const createdRangeFromProto = ({
  startDate,
  endDate,
  createdAt,
}: {
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
  readonly createdAt?: TimeRange | undefined;
}): TimeRange => ({
  after: createdAt?.after,
  before: createdAt?.before,
  from: startDate,
  until: endDate,
});
