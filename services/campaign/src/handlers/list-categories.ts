import { create } from "@bufbuild/protobuf";
import {
  type CategoryService,
  ListCategoriesResponseSchema,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { categoryToProto } from "../mapping/category.ts";
import { listCategories as list } from "../store/categories.ts";

export const listCategories =
  (deps: Deps): Handler<typeof CategoryService.method.listCategories> =>
  async (_request, { project }) => {
    const categories = await list(deps.db, project.id);
    return create(ListCategoriesResponseSchema, {
      data: categories.map(categoryToProto),
      total: BigInt(categories.length),
    });
  };
