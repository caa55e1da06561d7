import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { TimeRange } from "@scrip/proto/scrip/common/v1/list_pb";

import type { DateRange } from "../store/date-range.ts";

export const dateRangeFromProto = (range: TimeRange | undefined): DateRange => ({
  after: range?.after === undefined ? null : timestampDate(range.after),
  before: range?.before === undefined ? null : timestampDate(range.before),
});
