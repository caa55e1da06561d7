import { isDeepStrictEqual } from "node:util";

import type { newId } from "@scrip/ids";
import { type Database, isRetryable, type Queryable } from "@scrip/postgres";
import type { Order, OrderItem, OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import { MAX_AMOUNT } from "../domain/order/order-state.ts";
import {
  entriesOf,
  type LineItemReference,
  productName,
  skuName,
} from "../mapping/catalogue-line.ts";
import { type Catalogue, findOneInCatalogue } from "../store/catalogue-lookup.ts";
import {
  type CreatedEntries,
  type Override,
  saveOverrides,
  type SkuOverride,
} from "../store/catalogue-overrides.ts";

/** The order lines that override products or SKUs, their project and its time. */
export type OverridingLines = {
  readonly projectId: string;
  /** Current time of the project, in epoch milliseconds. */
  readonly now: number;
  readonly lines: readonly OrderItemInput[];
};

/** The lines that override the catalogue. Client-side callers may not override. */
export function overridingLines(
  call: Pick<Call, "caller">,
  items: readonly OrderItemInput[] = [],
): readonly OrderItemInput[] {
  if (call.caller.side === "client") return [];
  return items.filter(({ product, sku }) => product?.override === true || sku?.override === true);
}

/** Adds the ids of products and SKUs that overrides have created, so that rules on these find the lines. */
export type WithCatalogueIds = (order: Order) => Order;

export type OverrideDeps = { readonly db: Database; readonly newId: typeof newId };

/**
 * Writes the products and SKUs of lines with `override: true` into the catalogue: sent fields
 * overwrite, other fields stay, metadata is merged by key (docs/orders-and-catalogue.md#overrides).
 * `store` saves the order in the same transaction, so that a stored order has always overridden. An
 * unknown source id creates a product, or a SKU of the product in its line; an unknown id is
 * ignored. Unchanged entries are not written.
 */
export async function upsertOverrides(
  deps: OverrideDeps,
  overriding: OverridingLines,
  store: (tx: Queryable, withCatalogueIds: WithCatalogueIds) => Promise<void>,
): Promise<void> {
  if (overriding.lines.length === 0)
    return deps.db.transaction(async (tx) => store(tx, (order) => order));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await upsertOnce(deps, overriding, store);
    } catch (error) {
      // Two orders that create and find the same entry can deadlock; the retry finds it.
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

const MAX_ATTEMPTS = 3;

async function upsertOnce(
  deps: OverrideDeps,
  { projectId, now, lines }: OverridingLines,
  store: (tx: Queryable, withCatalogueIds: WithCatalogueIds) => Promise<void>,
): Promise<void> {
  const catalogue = await findEntriesOf(deps.db, { projectId, lines });
  const products = mergeOverrides(lines.flatMap((item) => productOverride(item, catalogue) ?? []));
  const skus = mergeOverrides(lines.flatMap((item) => skuOverride(item, catalogue) ?? []));
  const withId = (override: Override, prefix: "prod" | "sku") => ({
    ...override,
    id: override.known?.id ?? deps.newId(prefix),
  });
  await deps.db.transaction(async (tx) => {
    const created = await saveOverrides(tx, {
      projectId,
      at: new Date(now),
      products: products.map((each) => withId(each, "prod")),
      skus: skus.map((each) => ({ ...each, ...withId(each, "sku") })),
    });
    await store(tx, addingIds(catalogue, created));
  });
}

/** The ids that overrides have by now: those that `upsertOverrides` added to the order, unless an entry was deleted since. */
export const findOverrideIds = async (
  db: Queryable,
  lines: Omit<OverridingLines, "now">,
): Promise<WithCatalogueIds> => addingIds(await findEntriesOf(db, lines), NOTHING_CREATED);

const NOTHING_CREATED: CreatedEntries = { products: new Map(), skus: new Map() };

const findEntriesOf = (
  db: Queryable,
  { projectId, lines }: Omit<OverridingLines, "now">,
): Promise<Catalogue> =>
  findOneInCatalogue(db, {
    projectId,
    skus: lines.flatMap((item) => skuName(item) ?? []),
    products: lines.flatMap((item) => productName(item) ?? []),
  });

const addingIds =
  (catalogue: Catalogue, created: CreatedEntries): WithCatalogueIds =>
  (order) => ({
    ...order,
    items: order.items.map((item) => withIds(item, catalogue, created)),
  });

/** Entries that a concurrent request has created are in the catalogue by now. */
function withIds(item: OrderItem, catalogue: Catalogue, created: CreatedEntries): OrderItem {
  const [sourceId, skuSourceId] = [newProductSourceId(item), newSkuSourceId(item)];
  const { product, sku } = entriesOf(item, catalogue);
  const productId = product?.id ?? created.products.get(sourceId ?? "");
  const skuId = sku?.id ?? created.skus.get(skuSourceId ?? "");
  return {
    ...item,
    ...(sourceId !== undefined &&
      productId !== undefined && {
        productId,
        product: {
          $typeName: "scrip.common.v1.ItemProduct",
          ...item.product,
          id: productId,
          sourceId,
        },
      }),
    ...(skuSourceId !== undefined &&
      skuId !== undefined && {
        skuId,
        sku: {
          $typeName: "scrip.common.v1.ItemSku",
          ...item.sku,
          id: skuId,
          sourceId: skuSourceId,
        },
      }),
  };
}

function productOverride(item: OrderItemInput, catalogue: Catalogue): Override | undefined {
  const { product: sent } = item;
  const key = productKey(item, catalogue);
  if (sent?.override !== true || key === undefined) return undefined;
  const { product: row } = entriesOf(item, catalogue);
  return {
    key,
    known: row && { id: row.id, text: row.name, price: row.price, metadata: row.metadata },
    text: sent.name ?? null,
    price: priceOf(sent.price),
    metadata: sent.metadata ?? {},
  };
}

function skuOverride(item: OrderItemInput, catalogue: Catalogue): SkuOverride | undefined {
  const { sku: sent } = item;
  const { sku: row } = entriesOf(item, catalogue);
  const key = row?.id ?? newSkuSourceId(item);
  const product = productKey(item, catalogue);
  if (sent?.override !== true || key === undefined || product === undefined) return undefined;
  return {
    key,
    product,
    known: row && { id: row.id, text: row.name, price: row.price, metadata: row.metadata },
    text: sent.sku ?? null,
    price: priceOf(sent.price),
    metadata: sent.metadata ?? {},
  };
}

/** Id of the line's product, or the source id that it will be created with. */
const productKey = (item: OrderItemInput, catalogue: Catalogue): string | undefined =>
  entriesOf(item, catalogue).product?.id ?? newProductSourceId(item);

function newProductSourceId({ productId, product, relatedObject, sourceId }: LineItemReference) {
  if (productId !== undefined || product?.id !== undefined) return undefined;
  return product?.sourceId ?? (relatedObject === "sku" ? undefined : sourceId);
}

function newSkuSourceId({ skuId, sku, relatedObject, sourceId }: LineItemReference) {
  if (skuId !== undefined || sku?.id !== undefined) return undefined;
  return sku?.sourceId ?? (relatedObject === "sku" ? sourceId : undefined);
}

/** The catalogue accepts only valid prices; an order line may carry others. */
const priceOf = (price: bigint | undefined): bigint | null =>
  price === undefined || price < 0n || price > MAX_AMOUNT ? null : price;

/** Merges overrides of the same entry (later lines win) and drops those without changes. */
function mergeOverrides<One extends Override>(overrides: readonly One[]): readonly One[] {
  const merged = new Map<string, One>();
  for (const override of overrides) {
    const before = merged.get(override.key);
    merged.set(
      override.key,
      before === undefined ? override : { ...before, ...mergeContent(before, override) },
    );
  }
  return [...merged.values()].filter(
    ({ known, ...sent }) =>
      known === undefined || !isDeepStrictEqual(mergeContent(known, sent), contentOf(known)),
  );
}

type Content = Pick<Override, "text" | "price" | "metadata">;

const contentOf = ({ text, price, metadata }: Content): Content => ({ text, price, metadata });

const mergeContent = (before: Content, sent: Content): Content => ({
  text: sent.text ?? before.text,
  price: sent.price ?? before.price,
  metadata: { ...before.metadata, ...sent.metadata },
});
