import { filterCondition, type FilterFields } from "@scrip/filters";
import type { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { listSegments as list } from "../store/segments.ts";
import { toSegment } from "./segment-message.ts";

const DEFAULT_LIMIT = 10n;

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
    const condition = filterCondition(request.filters, { fields, call, values });
    const limit = Number(request.limit ?? DEFAULT_LIMIT);
    const { rows, total } = await list(deps.db, {
      condition,
      values,
      limit,
      offset: (Number(request.page ?? 1n) - 1) * limit,
    });
    return {
      $typeName: "scrip.loyalty.v1.ListSegmentsResponse",
      data: rows.map((row) => toSegment(row)),
      total,
    };
  };
