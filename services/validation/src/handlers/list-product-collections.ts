import { parsePage } from "@scrip/postgres";
import type { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { collectionToProto } from "../mapping/collection.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { listCollections } from "../store/collections.ts";

export const listProductCollections =
  (deps: Deps): Handler<typeof ProductCollectionService.method.listProductCollections> =>
  async (request, { project }) => {
    const { rows, total } = await listCollections(deps.db, {
      projectId: project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "-created_at",
      ...parsePage(request),
    });
    return {
      $typeName: "scrip.validation.v1.ListProductCollectionsResponse",
      data: rows.map((row) => collectionToProto(row)),
      total,
    };
  };
