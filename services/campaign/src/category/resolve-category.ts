import { invalidPayload, notFound } from "@scrip/errors";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { ensureCategories } from "../store/categories.ts";

type Names = {
  readonly projectId: string;
  readonly names: readonly string[];
  readonly now: number;
};

/** The categories of these names; those that are new are made. */
export async function categoriesNamed(
  deps: Deps,
  { projectId, names, now }: Names,
): Promise<ReadonlyMap<string, Category>> {
  const { categoryIds, categories, write } = deps.definitions;
  const wanted = [...new Set(names)].filter((name) => name !== "");
  const known = await categoryIds.getMany(projectId, wanted);
  const missing = wanted.filter((name) => !known.has(name));
  if (missing.length > 0) {
    const at = new Date(now);
    await write(projectId, (tx) =>
      ensureCategories(
        tx,
        projectId,
        missing.map((name) => ({ id: deps.newId("cat"), name, at })),
      ),
    );
  }
  const ids = missing.length === 0 ? known : await categoryIds.getMany(projectId, wanted);
  const found = await categories.getMany(projectId, [...ids.values()]);
  return new Map(
    [...ids].flatMap(([name, id]) => {
      const category = found.get(id);
      return category === undefined ? [] : [[name, category] as const];
    }),
  );
}

export type CategoryNames = {
  readonly category?: string | undefined;
  readonly categoryId?: string | undefined;
};

/**
 * The id of the category that a request names: by name it is made when it is new, by id it must be
 * known. Undefined when the request names none.
 */
export async function categoryIdOf(
  deps: Deps,
  { category: name = "", categoryId: id = "" }: CategoryNames,
  { project, now }: Call,
): Promise<string | undefined> {
  if (name !== "" && id !== "") {
    throw invalidPayload("Property .category and .category_id exclude each other");
  }
  if (name !== "") {
    const found = await categoriesNamed(deps, { projectId: project.id, names: [name], now });
    const made = found.get(name);
    // Deleted by somebody at the very same time.
    if (made === undefined) throw notFound("category", name);
    return made.id;
  }
  if (id === "") return undefined;
  if ((await deps.definitions.categories.get(project.id, id)) === undefined) {
    throw notFound("category", id);
  }
  return id;
}
