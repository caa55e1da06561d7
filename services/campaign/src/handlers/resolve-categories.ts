import { create } from "@bufbuild/protobuf";
import {
  type CategoryQuery,
  type CategoryService,
  ResolveCategoriesResponseSchema,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import { resolveCategoriesByName } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";

export const resolveCategories =
  (deps: Deps): Handler<typeof CategoryService.method.resolveCategories> =>
  async ({ queries }, { now }) => {
    const byProject = Map.groupBy(queries, ({ projectId }) => projectId);
    const found = new Map(
      await Promise.all(
        [...byProject].map(async ([projectId, own]) => {
          const ids = own.flatMap(({ id }) => id ?? []);
          const names = own.flatMap(({ id, name }) => (id === undefined ? (name ?? []) : []));
          const [byId, byName] = await Promise.all([
            deps.definitions.categories.getMany(projectId, ids),
            resolveCategoriesByName(deps, { projectId, names, now }),
          ]);
          return [projectId, { byId, byName }] as const;
        }),
      ),
    );
    const resultOf = ({ projectId, id, name = "" }: CategoryQuery) => {
      const own = found.get(projectId);
      const category = id === undefined ? own?.byName.get(name) : own?.byId.get(id);
      return category === undefined ? {} : { category };
    };
    return create(ResolveCategoriesResponseSchema, { results: queries.map(resultOf) });
  };
