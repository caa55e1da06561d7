import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { implement } from "@scrip/rpc";

import type { Deps } from "./deps.ts";
import { createCategory } from "./handlers/create-category.ts";
import { deleteCategory } from "./handlers/delete-category.ts";
import { getCategory } from "./handlers/get-category.ts";
import { listCategories } from "./handlers/list-categories.ts";
import { resolveCategories } from "./handlers/resolve-categories.ts";
import { updateCategory } from "./handlers/update-category.ts";

/** The table of contents of this service: one line for each RPC. */
export const routes = (deps: Deps) => [
  implement(CategoryService, {
    createCategory: createCategory(deps),
    listCategories: listCategories(deps),
    getCategory: getCategory(deps),
    updateCategory: updateCategory(deps),
    deleteCategory: deleteCategory(deps),
    resolveCategories: resolveCategories(deps),
  }),
];
