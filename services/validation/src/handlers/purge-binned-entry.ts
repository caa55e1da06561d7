import type { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { purgeBinned } from "../store/catalogue-bin.ts";

export const purgeBinnedEntry =
  ({ db }: Deps): Handler<typeof ProductService.method.purgeBinnedEntry> =>
  async ({ id }, { project }) => {
    await purgeBinned(db, { projectId: project.id, id });
    return { $typeName: "scrip.validation.v1.PurgeBinnedEntryResponse" };
  };
