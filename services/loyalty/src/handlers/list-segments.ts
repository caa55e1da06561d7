import { filterCondition, type FilterFields } from "@scrip/filters";
import { timeRangeConditions } from "@scrip/filters";
import { parsePage } from "@scrip/postgres";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { segmentToProto } from "../mapping/segment.ts";
import { listSegments as list } from "../store/segments.ts";

const fields: FilterFields = {
  named: {
    id: { type: "text", sql: "id" },
    name: { type: "text", sql: "name" },
    type: { type: "text", sql: "type" },
    created_at: { type: "date", sql: "created_at" },
  },
};

export const listSegments =
  (deps: Deps): Handler<typeof SegmentService.method.listSegments> =>
  async (request, call) => {
    const values: unknown[] = [call.project.id];
    const condition = [
      filterCondition(request.filters, { fields, call, values }),
      ...timeRangeConditions("created_at", request.createdAt, values),
    ].join(" and ");
    const { rows, total } = await list(deps.db, {
      projectId: call.project.id,
      condition,
      values,
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.loyalty.v1.ListSegmentsResponse",
      data: rows.map((row) => segmentToProto(row)),
      total,
    };
  };
