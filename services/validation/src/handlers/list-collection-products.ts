import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { parsePage } from "@scrip/postgres";
import {
  ListCollectionProductsResponseSchema,
  type ProductCollectionService,
} from "@scrip/proto/scrip/validation/v1/collections_pb";
import { type Handler, timeContextOf } from "@scrip/rpc";

import { requireCollection } from "../catalogue/require-collection.ts";
import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { listCollectionProducts as list } from "../store/collections.ts";

export const listCollectionProducts =
  (deps: Deps): Handler<typeof ProductCollectionService.method.listCollectionProducts> =>
  async (request, { project, now }) => {
    const collection = await requireCollection(deps, project.id, request.productCollectionId);
    const { rows, ...rest } = await list(deps.db, collection, {
      projectId: project.id,
      moment: timeContextOf({ now, project }),
      created: createdRangeFromProto(request),
      order: request.order ?? "-created_at",
      startingAfter: request.startingAfter,
      ...parsePage(request),
    });
    return create(ListCollectionProductsResponseSchema, {
      data: rows.map(({ id, object, source_id: sourceId, product_id: productId, created_at }) => ({
        id,
        object,
        createdAt: timestampFromDate(created_at),
        ...(sourceId !== null && { sourceId }),
        ...(productId !== null && { productId }),
      })),
      ...rest,
    });
  };
