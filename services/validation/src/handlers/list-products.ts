import { parsePage } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { productToProto } from "../mapping/product.ts";
import { findSkusOf, listEntries } from "../store/catalogue.ts";

export const listProducts =
  (deps: Deps): Handler<typeof ProductService.method.listProducts> =>
  async (request, { project }) => {
    const { rows, total } = await listEntries(deps.db, "product", {
      projectId: project.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "created_at",
      ...parsePage(request),
    });
    const skus = await findSkusOf(
      deps.db,
      project.id,
      rows.map(({ id }) => id),
    );
    return {
      $typeName: "scrip.validation.v1.ListProductsResponse",
      products: rows.map((product) => productToProto(product, skus.get(product.id))),
      total,
    };
  };
