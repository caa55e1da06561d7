import { create } from "@bufbuild/protobuf";
import {
  ListCustomerSegmentsResponseSchema,
  type SegmentService,
} from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";

import { requireCustomerId } from "../customer/require-customer.ts";
import type { Deps } from "../deps.ts";
import { evaluateSegments } from "../segment/evaluate-segments.ts";

export const listCustomerSegments =
  (deps: Deps): Handler<typeof SegmentService.method.listCustomerSegments> =>
  async ({ customerId }, { project, now }) => {
    const id = await requireCustomerId(deps.db, project.id, customerId);
    const [segments = []] = await evaluateSegments(deps, [
      {
        projectId: project.id,
        customerId: id,
        input: undefined,
        time: timeContextOf({ now, project }),
      },
    ]);
    return create(ListCustomerSegmentsResponseSchema, {
      data: segments.map(({ id: segmentId, name }) => ({ id: segmentId, name })),
      total: BigInt(segments.length),
    });
  };
