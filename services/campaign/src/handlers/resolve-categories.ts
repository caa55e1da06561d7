import { create } from "@bufbuild/protobuf";
import {
  type CategoryQuery,
  type CategoryService,
  ResolveCategoriesResponseSchema,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handler } from "@scrip/rpc";

import { findCategoriesByName, resolveCategoriesByName } from "../category/resolve-category.ts";
import type { Deps } from "../deps.ts";

export const resolveCategories =
  (deps: Deps): Handler<typeof CategoryService.method.resolveCategories> =>
  async ({ queries }, { now }) => {
    const byProject = Map.groupBy(queries, ({ projectId }) => projectId);
    const found = new Map(
      await Promise.all(
        [...byProject].map(async ([projectId, own]) => {
          const ids = own.flatMap(({ id }) => id ?? []);
          const byNames = own.filter(({ id }) => id === undefined);
          const namesOf = (existingOnly: boolean): string[] =>
            byNames.flatMap((query) =>
              query.existingOnly === existingOnly ? (query.name ?? []) : [],
            );
          const [byId, created, existing] = await Promise.all([
            deps.definitions.categories.getMany(projectId, ids),
            resolveCategoriesByName(deps, { projectId, names: namesOf(false), now }),
            findCategoriesByName(deps, projectId, namesOf(true)),
          ]);
          return [projectId, { byId, byName: new Map([...existing, ...created]) }] as const;
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
