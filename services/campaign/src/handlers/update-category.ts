import { duplicate, notFound } from "@scrip/errors";
import { isUniqueViolation, type Queryable } from "@scrip/postgres";
import type { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoryToProto } from "../mapping/category.ts";
import { updateCategory as update } from "../store/categories.ts";

export const updateCategory =
  (deps: Deps): Handler<typeof CategoryService.method.updateCategory> =>
  async ({ categoryId, name, hierarchy = 0n }, { project, now }) => {
    const change = { id: categoryId, name, hierarchy, at: new Date(now) };
    const edit = async (tx: Queryable) => {
      const category = await update(tx, project.id, change);
      if (category === "not_found") throw notFound("category", categoryId);
      return category;
    };
    const category = await deps.definitions.write(project.id, edit).catch((error: unknown) => {
      if (isUniqueViolation(error, "category_project_name"))
        throw duplicate("category", "name", name);
      throw error;
    });
    return categoryToProto(category);
  };
