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
  async ({ createdAt, startingAfter, limit }, { project }) => {
    const { categories, ...rest } = await list(deps.db, {
      projectId: project.id,
      createdAt,
      startingAfter,
      limit: limit === undefined ? undefined : Number(limit),
    });
    return create(ListCategoriesResponseSchema, {
      data: categories.map(categoryToProto),
      ...rest,
    });
  };
