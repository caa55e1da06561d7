import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";

/** Categories by id; deleted ones are omitted. */
export async function loadCategories(
  deps: Pick<Deps, "clients">,
  call: Call,
  categoryIds: readonly string[],
): Promise<ReadonlyMap<string, Category>> {
  const results = await Promise.all(
    [...new Set(categoryIds)].map((id) =>
      deps.clients.resolveCategory({ projectId: call.project.id, id }, call),
    ),
  );
  return new Map(results.flatMap(({ category }) => (category ? [[category.id, category]] : [])));
}
