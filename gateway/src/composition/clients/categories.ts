import type { Transport } from "@connectrpc/connect";
import { type CategoryQuery, CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import { clientOf, createCoalescer, serviceCall } from "@scrip/rpc";
import { LRUCache } from "lru-cache";

/** Looks categories up for requests and answers of all projects, many at a time. */
export type Categories = {
  /** The category of an id; undefined when there is none. */
  byId(projectId: string, id: string): Promise<Category | undefined>;
  /** The category of a name, which is made when it is new. */
  byName(projectId: string, name: string): Promise<Category | undefined>;
  /** Remembered for at most a second, for the names in answers. */
  cachedById(projectId: string, id: string): Promise<Category | undefined>;
  /** After a change through this process, so that it shows at once. */
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
  const ask = createCoalescer<CategoryQuery, Category | undefined>({
    lanes: LANES,
    maxBatch: MAX_BATCH,
    maxWaiting: MAX_WAITING,
    async send(queries) {
      const { results: answers } = await client.resolveCategories(
        {
          $typeName: "scrip.campaign.v1.ResolveCategoriesRequest",
          queries: [...queries],
        },
        serviceCall(),
      );
      return answers.map(({ category }) => category);
    },
  });
  const remembered = new LRUCache<string, CacheEntry>({ max: MAX_ENTRIES });
  // Counts changes, so that a look-up that began before one cannot bring the old name back.
  let changes = 0;

  const byId = (projectId: string, id: string): Promise<Category | undefined> =>
    ask({ $typeName: "scrip.campaign.v1.CategoryQuery", projectId, id });

  return {
    byId,
    byName: (projectId, name) =>
      ask({ $typeName: "scrip.campaign.v1.CategoryQuery", projectId, name }),
    async cachedById(projectId, id) {
      const entry = `${projectId}\n${id}`;
      const known = remembered.get(entry);
      if (known !== undefined && known.until > performance.now()) return known.category;
      const before = changes;
      const category = await byId(projectId, id);
      if (before === changes) {
        remembered.set(entry, { projectId, category, until: performance.now() + CACHE_MS });
      }
      return category;
    },
    evict(projectId) {
      changes += 1;
      for (const [entry, known] of remembered.entries()) {
        if (known.projectId === projectId) remembered.delete(entry);
      }
    },
  };
}
