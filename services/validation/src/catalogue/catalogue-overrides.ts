import { isDeepStrictEqual } from "node:util";

import type { newId } from "@scrip/ids";
import { type Database, isRetryable, type Queryable } from "@scrip/postgres";
import type { OrderItemInput } from "@scrip/proto/scrip/common/v1/order_pb";
import type { Call } from "@scrip/rpc";

import { LARGEST_AMOUNT } from "../domain/order/order-state.ts";
import { skuName, productName, entriesOf } from "../mapping/catalogue-line.ts";
import { type Catalogue, findOneInCatalogue } from "../store/catalogue-lookup.ts";
import { type Override, saveOverrides, type SkuOverride } from "../store/catalogue-overrides.ts";

/** Which lines of an order say what the catalogue is to hold, when, and in whose project. */
export type OverridingLines = {
  readonly projectId: string;
  /** The project's present, in epoch milliseconds. */
  readonly now: number;
  readonly lines: readonly OrderItemInput[];
};

/** The lines that write into the catalogue. Callers from outside may not. */
export function overridingLines(
  call: Pick<Call, "caller">,
  items: readonly OrderItemInput[] = [],
): readonly OrderItemInput[] {
  if (call.caller.side === "client") return [];
  return items.filter(({ product, sku }) => product?.override === true || sku?.override === true);
}

/** What overrides are written with: the process, or what consumes its events. */
export type OverrideDeps = { readonly db: Database; readonly newId: typeof newId };

/**
 * Writes products and SKUs that lines carry with `override: true` into the catalogue, as their own
 * endpoints would: what is sent overwrites, the rest stays, metadata is merged by key
 * (spec/validation-and-redemption.md §1.1.3). For redemptions that were made and orders that are
 * stored, never for a question; `store` writes their order in the same transaction, so that an order
 * that is there has overridden. The lines are those that were sent, not those that the catalogue was
 * laid under: what somebody else changes meanwhile is not changed back.
 *
 * An unknown source id becomes a product, or a SKU of the product that its line names; nothing comes
 * of an unknown id, since ids are given here. What the catalogue says already is not written again.
 */
export async function upsertOverrides(
  deps: OverrideDeps,
  overriding: OverridingLines,
  store: (tx: Queryable) => Promise<void>,
): Promise<void> {
  if (overriding.lines.length === 0) return deps.db.transaction(store);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await upsertOnce(deps, overriding, store);
    } catch (error) {
      // An order that makes what another one finds takes rows in another order; a repeat finds it too.
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw error;
    }
  }
}

const MAX_ATTEMPTS = 3;

async function upsertOnce(
  deps: OverrideDeps,
  { projectId, now, lines }: OverridingLines,
  store: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const catalogue = await findOneInCatalogue(deps.db, {
    projectId,
    skus: lines.flatMap((item) => skuName(item) ?? []),
    products: lines.flatMap((item) => productName(item) ?? []),
  });
  const products = mergeOverrides(lines.flatMap((item) => productOverride(item, catalogue) ?? []));
  const skus = mergeOverrides(lines.flatMap((item) => skuOverride(item, catalogue) ?? []));
  const withId = (override: Override, prefix: "prod" | "sku") => ({
    ...override,
    id: override.known?.id ?? deps.newId(prefix),
  });
  await deps.db.transaction(async (tx) => {
    await saveOverrides(tx, {
      projectId,
      at: new Date(now),
      products: products.map((each) => withId(each, "prod")),
      skus: skus.map((each) => ({ ...each, ...withId(each, "sku") })),
    });
    await store(tx);
  });
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

/** The id of the line's product, or the source id that it is going to have. */
const productKey = (item: OrderItemInput, catalogue: Catalogue): string | undefined =>
  entriesOf(item, catalogue).product?.id ?? newProductSourceId(item);

function newProductSourceId({ productId, product, relatedObject, sourceId }: OrderItemInput) {
  if (productId !== undefined || product?.id !== undefined) return undefined;
  return product?.sourceId ?? (relatedObject === "sku" ? undefined : sourceId);
}

function newSkuSourceId({ skuId, sku, relatedObject, sourceId }: OrderItemInput) {
  if (skuId !== undefined || sku?.id !== undefined) return undefined;
  return sku?.sourceId ?? (relatedObject === "sku" ? sourceId : undefined);
}

/** An order may name a price in vain; the catalogue may not hold one that is none. */
const priceOf = (price: bigint | undefined): bigint | null =>
  price === undefined || price < 0n || price > LARGEST_AMOUNT ? null : price;

/** Each product or SKU once, what later lines say over what earlier ones say; only what is new. */
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
