import { invalidPayload, notFound } from "@scrip/errors";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Call } from "@scrip/rpc";

import { type Deps, stepDeps } from "../deps.ts";
import { insertMissingCategories } from "../store/categories.ts";

type CategoryNames = {
  readonly projectId: string;
  readonly names: readonly string[];
  readonly now: number;
};

/** Returns the categories with these names and creates the missing ones (docs/campaigns.md#categories). */
export async function resolveCategoriesByName(
  deps: Deps,
  { projectId, names, now }: CategoryNames,
): Promise<ReadonlyMap<string, Category>> {
  // Committed by itself, since the caches read what is committed; repeatable.
  const { definitions } = stepDeps(deps);
  const requested = [...new Set(names)].filter((name) => name !== "");
  const known = await definitions.categoryIds.getMany(projectId, requested);
  const missing = requested.filter((name) => !known.has(name));
  if (missing.length > 0) {
    const at = new Date(now);
    await definitions.write(projectId, (tx) =>
      insertMissingCategories(
        tx,
        projectId,
        missing.map((name) => ({ id: deps.newId("cat"), name, at })),
      ),
    );
  }
  return findCategoriesByName(deps, projectId, requested);
}

/** Returns the existing categories with these names. */
export async function findCategoriesByName(
  deps: Deps,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, Category>> {
  const { categoryIds, categories } = deps.definitions;
  const ids = await categoryIds.getMany(projectId, [...new Set(names)]);
  const found = await categories.getMany(projectId, [...ids.values()]);
  return new Map(
    [...ids].flatMap(([name, id]) => {
      const category = found.get(id);
      return category === undefined ? [] : [[name, category] as const];
    }),
  );
}

export type CategoryReference = {
  readonly category?: string | undefined;
  readonly categoryId?: string | undefined;
};

/**
 * Returns the id of the category in a request, or undefined without one. A new name creates a category;
 * an id must exist.
 */
export async function resolveCategoryId(
  deps: Deps,
  { category: name = "", categoryId: id = "" }: CategoryReference,
  { project, now }: Call,
): Promise<string | undefined> {
  if (id !== "") {
    const category = await deps.definitions.categories.get(project.id, id);
    if (category === undefined) throw notFound("category", id);
    // Responses have both, and clients send them back.
    if (name === "" || category.name === name) return id;
    throw invalidPayload("Property .category and .category_id differ");
  }
  if (name !== "") {
    const found = await resolveCategoriesByName(deps, {
      projectId: project.id,
      names: [name],
      now,
    });
    const category = found.get(name);
    // Undefined if a concurrent request has deleted it.
    if (category === undefined) throw notFound("category", name);
    return category.id;
  }
  return undefined;
}
