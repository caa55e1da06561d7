import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { notFound } from "@scrip/errors";
import type { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteCategory as remove } from "../store/categories.ts";

/** Objects of the category keep its id: an id that does not exist is read as no category everywhere. */
export const deleteCategory =
  (deps: Deps): Handler<typeof CategoryService.method.deleteCategory> =>
  async ({ categoryId }, { project }) => {
    await deps.definitions.write(project.id, async (tx) => {
      if ((await remove(tx, project.id, categoryId)) === "not_found") {
        throw notFound("category", categoryId);
      }
    });
    return create(EmptySchema);
  };
