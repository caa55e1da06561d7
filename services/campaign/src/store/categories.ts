import { type TimeRange, timeRangeConditions } from "@scrip/filters";
import {
  type CursorTimestamp,
  type DefinitionKey,
  type ListSource,
  listReads,
  type Queryable,
  readTimePage,
} from "@scrip/postgres";

import type { Category } from "../domain/category.ts";
import { inKeyOrder } from "./columns.ts";

type CategoryRow = {
  id: string;
  name: string;
  hierarchy: bigint;
  created_at: Date;
  updated_at: Date | null;
};

export async function insertCategory(
  db: Queryable,
  projectId: string,
  category: Category,
): Promise<"inserted" | "name_taken"> {
  const { rowCount } = await db.query(
    `insert into category (project_id, id, name, hierarchy, created_at)
     values ($1, $2, $3, $4, $5)
     on conflict (project_id, name) do nothing`,
    [projectId, category.id, category.name, category.hierarchy, category.createdAt],
  );
  return rowCount === 1 ? "inserted" : "name_taken";
}

/** Maximum number of listed categories: far above what stacking rules can refer to. */
const MAX_LISTED = 1_000;

export type CategoryListing = {
  readonly projectId: string;
  readonly createdAt?: TimeRange | undefined;
  /** Only categories behind this cursor; all of them are counted. */
  readonly startingAfter?: CursorTimestamp | undefined;
  /** Default: all categories. */
  readonly limit?: number | undefined;
};

/** Categories, newest first. */
export async function listCategories(
  db: ListSource,
  { projectId, createdAt, startingAfter, limit = MAX_LISTED }: CategoryListing,
): Promise<{
  readonly categories: readonly Category[];
  readonly total: bigint;
  readonly hasMore: boolean;
  readonly moreStartingAfter: CursorTimestamp | undefined;
}> {
  const values: unknown[] = [projectId];
  const conditions = ["project_id = $1", ...timeRangeConditions("created_at", createdAt, values)];
  const { rows, ...rest } = await readTimePage<CategoryRow>(listReads(db, projectId), {
    from: `from category where ${conditions.join(" and ")}`,
    values,
    order: { column: "created_at", id: "id", descending: true, nullable: false },
    timeOf: (row) => row.created_at,
    startingAfter,
    limit,
    offset: 0,
    select: (page) => `select id, name, hierarchy, created_at, updated_at ${page}`,
  });
  return { categories: rows.map(categoryFromRow), ...rest };
}

export async function findCategory(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<Category | undefined> {
  const { rows } = await db.query<CategoryRow>(
    `select id, name, hierarchy, created_at, updated_at
       from category
      where project_id = $1 and id = $2`,
    [projectId, id],
  );
  return rows[0] && categoryFromRow(rows[0]);
}

/** Returns the updated category. A name that another category has is a unique violation. */
export async function updateCategory(
  db: Queryable,
  projectId: string,
  change: Pick<Category, "id" | "name" | "hierarchy"> & { readonly at: Date },
): Promise<Category | "not_found"> {
  const { rows } = await db.query<CategoryRow>(
    `update category
        set name = $3, hierarchy = $4, updated_at = $5
      where project_id = $1 and id = $2
      returning id, name, hierarchy, created_at, updated_at`,
    [projectId, change.id, change.name, change.hierarchy, change.at],
  );
  return rows[0] ? categoryFromRow(rows[0]) : "not_found";
}

export async function deleteCategory(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<"deleted" | "not_found"> {
  const { rowCount } = await db.query("delete from category where project_id = $1 and id = $2", [
    projectId,
    id,
  ]);
  return rowCount === 1 ? "deleted" : "not_found";
}

export type NewCategory = {
  readonly id: string;
  readonly name: string;
  readonly at: Date;
};

/** Inserts the categories whose names are new, each with the next hierarchy of its project. */
export async function insertMissingCategories(
  tx: Queryable,
  projectId: string,
  categories: readonly NewCategory[],
): Promise<void> {
  // Sorted, so that two requests with the same names wait for each other instead of deadlocking.
  for (const { id, name, at } of categories.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    await tx.query(
      `insert into category (project_id, id, name, hierarchy, created_at)
       select $1, $2, $3, coalesce(max(hierarchy) + 1, 0), $4
         from category
        where project_id = $1
       on conflict (project_id, name) do nothing`,
      [projectId, id, name, at],
    );
  }
}

/** Loads categories for the definition cache, in the order of the keys, which are ids. */
export async function findCategories(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (Category | undefined)[]> {
  const { rows } = await db.query<CategoryRow & { position: bigint }>(
    `select key.position, c.id, c.name, c.hierarchy, c.created_at, c.updated_at
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, id, position)
             join category c on c.project_id = key.project_id and c.id = key.id`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, categoryFromRow);
}

/** Loads category ids for the definition cache, in the order of the keys, which are names. */
export async function findCategoryIds(
  db: Queryable,
  keys: readonly DefinitionKey[],
): Promise<readonly (string | undefined)[]> {
  const { rows } = await db.query<{ id: string; position: bigint }>(
    `select key.position, c.id
             from unnest($1::text[], $2::text[]) with ordinality as key (project_id, name, position)
             join category c on c.project_id = key.project_id and c.name = key.name`,
    [keys.map(({ projectId }) => projectId), keys.map(({ key }) => key)],
  );
  return inKeyOrder(keys, rows, ({ id }) => id);
}

function categoryFromRow(row: CategoryRow): Category {
  return {
    id: row.id,
    name: row.name,
    hierarchy: row.hierarchy,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
