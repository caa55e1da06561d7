import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteEntry } from "../store/catalogue.ts";
import { requireEntry } from "./edit-entry.ts";

export const deleteProduct =
  (deps: Deps): Handler<typeof ProductService.method.deleteProduct> =>
  async (request, { project }) => {
    const projectId = project.id;
    const { id } = await requireEntry(deps.db, "product", { projectId, name: request.productId });
    await deleteEntry(deps.db, "product", { projectId, id });
    return create(EmptySchema);
  };
