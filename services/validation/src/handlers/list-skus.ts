import { parsePage } from "@scrip/postgres";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import { requireEntry } from "../catalogue/catalogue-entries.ts";
import type { Deps } from "../deps.ts";
import { createdRangeFromProto } from "../mapping/created-range.ts";
import { skuToProto } from "../mapping/sku.ts";
import { listEntries } from "../store/catalogue.ts";

export const listSkus =
  (deps: Deps): Handler<typeof ProductService.method.listSkus> =>
  async (request, { project }) => {
    const projectId = project.id;
    const product = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    const { rows, total } = await listEntries(deps.db, "sku", {
      projectId,
      productId: product.id,
      created: createdRangeFromProto(request),
      order: request.order ?? "created_at",
      ...parsePage(request),
    });
    const skus = rows.map((sku) => skuToProto(sku, product));
    return { $typeName: "scrip.validation.v1.ListSkusResponse", skus, total };
  };
