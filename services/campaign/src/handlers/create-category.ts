import { duplicate } from "@scrip/errors";
import type { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoryToProto } from "../mapping/category.ts";
import { insertCategory } from "../store/categories.ts";

export const createCategory =
  (deps: Deps): Handler<typeof CategoryService.method.createCategory> =>
  async ({ name, hierarchy = 0n }, { project, now }) => {
    const category = {
      id: deps.newId("cat"),
      name,
      hierarchy,
      createdAt: new Date(now),
      updatedAt: null,
    };
    await deps.definitions.write(project.id, async (tx) => {
      if ((await insertCategory(tx, project.id, category)) === "name_taken") {
        throw duplicate("category", "name", name);
      }
    });
    return categoryToProto(category);
  };
