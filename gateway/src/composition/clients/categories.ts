import type { Transport } from "@connectrpc/connect";
import { type CategoryQuery, CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import { clientOf, createCoalescer, serviceCall } from "@scrip/rpc";
import { LRUCache } from "lru-cache";

/** Categories by id or name; lookups of concurrent requests are sent together. */
export type Categories = {
  byId(projectId: string, id: string): Promise<Category | undefined>;
  /** An existing category by id or name; an id wins. */
  existing(projectId: string, idOrName: string): Promise<Category | undefined>;
  /** Creates the category when the name is new. */
  byName(projectId: string, name: string): Promise<Category | undefined>;
  /** For names in responses, which may be a second old. */
  cachedById(projectId: string, id: string): Promise<Category | undefined>;
  /** Called after a change through this process, so that responses show it immediately. */
  evict(projectId: string): void;
};

const CACHE_MS = 1_000;
const MAX_ENTRIES = 10_000;
const LANES = 2;
const MAX_BATCH = 500;
const MAX_WAITING = 10_000;

type CacheEntry = {
  readonly projectId: string;
  readonly category: Category | undefined;
  readonly until: number;
};

export function createCategoriesClient(transport: Transport): Categories {
  const client = clientOf(CategoryService, transport);
  const lookUp = createCoalescer<CategoryQuery, Category | undefined>({
    lanes: LANES,
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    async send(queries) {
      const { results } = await client.resolveCategories(
        {
          $typeName: "scrip.campaign.v1.ResolveCategoriesRequest",
          queries: [...queries],
        },
        serviceCall(),
      );
      return results.map(({ category }) => category);
    },
  });
  const cache = new LRUCache<string, CacheEntry>({ max: MAX_ENTRIES });
  // Counts evictions: a lookup that started before one must not cache the old name.
  let evictions = 0;

  const query = (projectId: string, by: Partial<CategoryQuery>): Promise<Category | undefined> =>
    lookUp({
      $typeName: "scrip.campaign.v1.CategoryQuery",
      projectId,
      existingOnly: false,
      ...by,
    });
  const byId = (projectId: string, id: string): Promise<Category | undefined> =>
    query(projectId, { id });

  return {
    byId,
    byName: (projectId, name) => query(projectId, { name }),
    async existing(projectId, idOrName) {
      const [withId, withName] = await Promise.all([
        byId(projectId, idOrName),
        query(projectId, { name: idOrName, existingOnly: true }),
      ]);
      return withId ?? withName;
    },
    async cachedById(projectId, id) {
      const entry = `${projectId}\n${id}`;
      const known = cache.get(entry);
      if (known !== undefined && known.until > performance.now()) return known.category;
      const before = evictions;
      const category = await byId(projectId, id);
      if (before === evictions) {
        cache.set(entry, { projectId, category, until: performance.now() + CACHE_MS });
      }
      return category;
    },
    evict(projectId) {
      evictions += 1;
      for (const [entry, known] of cache.entries()) {
        if (known.projectId === projectId) cache.delete(entry);
      }
    },
  };
}
