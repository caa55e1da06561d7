import { notFound } from "@scrip/errors";
import type { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoryToProto } from "../mapping/category.ts";
import { findCategory } from "../store/categories.ts";

export const getCategory =
  (deps: Deps): Handler<typeof CategoryService.method.getCategory> =>
  async ({ categoryId }, { project }) => {
    const category = await findCategory(deps.db, project.id, categoryId);
    if (category === undefined) throw notFound("category", categoryId);
    return categoryToProto(category);
  };
