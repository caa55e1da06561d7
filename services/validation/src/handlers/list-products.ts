import { timestampDate } from "@bufbuild/protobuf/wkt";
import { parsePage } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { productToProto } from "../mapping/product.ts";
import { findSkusOf, listEntries } from "../store/catalogue.ts";

export const listProducts =
  (deps: Deps): Handler<typeof ProductService.method.listProducts> =>
  async (request, { project }) => {
    const { startDate, endDate } = request;
    const { rows, total } = await listEntries(deps.db, "product", {
      projectId: project.id,
      madeFrom: startDate === undefined ? null : timestampDate(startDate),
      madeUntil: endDate === undefined ? null : timestampDate(endDate),
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
