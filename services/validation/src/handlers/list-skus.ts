import { timestampDate } from "@bufbuild/protobuf/wkt";
import { parsePage } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { skuToProto } from "../mapping/sku.ts";
import { listEntries } from "../store/catalogue.ts";

export const listSkus =
  (deps: Deps): Handler<typeof ProductService.method.listSkus> =>
  async (request, { project }) => {
    const projectId = project.id;
    const { startDate, endDate } = request;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const { rows, total } = await listEntries(deps.db, "sku", {
      projectId,
      productId: product.id,
      madeFrom: startDate === undefined ? null : timestampDate(startDate),
      madeUntil: endDate === undefined ? null : timestampDate(endDate),
      order: request.order ?? "created_at",
      ...parsePage(request),
    });
    const skus = rows.map((sku) => skuToProto(sku, product));
    return { $typeName: "scrip.validation.v1.ListSkusResponse", skus, total };
  };
