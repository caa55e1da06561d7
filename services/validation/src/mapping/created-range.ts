import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { TimeRange } from "@scrip/proto/scrip/common/v1/list_pb";

import type { CreatedRange } from "../store/created-range.ts";

/** The fields by which lists are limited to a time of creation. */
export const createdRangeFromProto = (request: {
  readonly startDate?: Timestamp | undefined;
  readonly endDate?: Timestamp | undefined;
  readonly createdAt?: TimeRange | undefined;
}): CreatedRange => ({
  from: dateOf(request.startDate),
  until: dateOf(request.endDate),
  after: dateOf(request.createdAt?.after),
  before: dateOf(request.createdAt?.before),
});

const dateOf = (time: Timestamp | undefined): Date | null =>
  time === undefined ? null : timestampDate(time);
