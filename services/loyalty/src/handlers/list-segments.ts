import { Refusal } from "@scrip/errors";
import { compileFilters, type FilterFields } from "@scrip/filters";
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
  async (request, { project, now }) => {
    const values: unknown[] = [project.id];
    const { timeZone } = project;
    const compiled = compileFilters(request.filters ?? {}, { fields, now, timeZone, values });
    if (compiled.kind === "violation") {
      throw new Refusal("invalid_query_params", { details: compiled.text });
    }
    const limit = Number(request.limit ?? DEFAULT_LIMIT);
    const { rows, total } = await list(deps.db, {
      condition: compiled.text,
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
