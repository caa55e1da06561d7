import { create } from "@bufbuild/protobuf";
import {
  type CategoryQuery,
  type CategoryService,
  ResolveCategoriesResponseSchema,
} from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { ensureCategories, findCategoriesBy } from "../store/categories.ts";
import { toProto } from "./to-proto.ts";

export const resolveCategories =
  (deps: Deps): Handlers<typeof CategoryService>["resolveCategories"] =>
  async ({ queries }, { now }) => {
    const ids = keysOf(queries, "id");
    const names = keysOf(queries, "name");

    const byId = await findCategoriesBy(deps.db, "id", ids);
    const known = await findCategoriesBy(deps.db, "name", names);
    const missing = names.filter(
      ({ projectId, value }) =>
        !known.some((category) => category.projectId === projectId && category.name === value),
    );
    await ensureCategories(
      deps.db,
      missing.map(({ projectId, value }) => ({
        projectId,
        id: deps.newId("cat"),
        name: value,
        at: new Date(now),
      })),
    );
    const made = await findCategoriesBy(deps.db, "name", missing);

    const found = new Map<string, ReturnType<typeof toProto>>();
    for (const category of byId)
      found.set(keyOf(category.projectId, "id", category.id), toProto(category));
    for (const category of [...known, ...made]) {
      found.set(keyOf(category.projectId, "name", category.name), toProto(category));
    }
    return create(ResolveCategoriesResponseSchema, {
      answers: queries.map((query) => {
        const category =
          query.id === undefined
            ? found.get(keyOf(query.projectId, "name", query.name ?? ""))
            : found.get(keyOf(query.projectId, "id", query.id));
        return category === undefined ? {} : { category };
      }),
    });
  };

function keysOf(queries: readonly CategoryQuery[], field: "id" | "name") {
  return queries.flatMap(({ projectId, id, name }) => {
    const value = field === "id" ? id : id === undefined ? name : undefined;
    return value === undefined ? [] : [{ projectId, value }];
  });
}

const keyOf = (projectId: string, field: "id" | "name", value: string): string =>
  JSON.stringify([projectId, field, value]);
