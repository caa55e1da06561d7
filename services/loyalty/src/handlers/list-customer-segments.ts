import { create } from "@bufbuild/protobuf";
import {
  ListCustomerSegmentsResponseSchema,
  type SegmentService,
} from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { evaluateSegments } from "../segment/evaluate-segments.ts";
import { findCustomerId } from "../store/customer-profiles.ts";

export const listCustomerSegments =
  (deps: Deps): Handler<typeof SegmentService.method.listCustomerSegments> =>
  async ({ customerId }, { project, now }) => {
    const id = await findCustomerId(deps.db, project.id, customerId);
    const [{ segments } = { segments: [] }] = await evaluateSegments(deps, [
      {
        projectId: project.id,
        customerId: id ?? null,
        input: undefined,
        time: timeContextOf({ now, project }),
      },
    ]);
    return create(ListCustomerSegmentsResponseSchema, {
      data: segments.map(({ id: segmentId, name }) => ({ id: segmentId, name })),
      total: BigInt(segments.length),
    });
  };
