import { instantToProto } from "@scrip/mapping";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { CustomerResult } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { Call } from "@scrip/rpc";
import { namedSegments, type Rule, type ValidationRule } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import type { CatalogueLine } from "../domain/catalogue/product-collections.ts";
import type { CatalogueItem } from "../domain/input/catalogue-item.ts";
import { loadCatalogueUnits } from "./catalogue.ts";
import { loadCollectionsOfLines } from "./collections.ts";

/** Data that only some rules and discounts read; most requests load none of it. */
export type RuleData = {
  /** Segments of the customer; empty unless a rule reads them. */
  readonly segments: readonly string[];
  readonly loyaltyTiers: readonly string[];
  /** For each line the collections that contain it. */
  readonly collections: readonly (readonly string[])[];
  /** By the id or source id that a discount or rule references. */
  readonly catalogue: ReadonlyMap<string, CatalogueItem>;
};

/** The part of a request that rules read. */
export type RuleInput = {
  readonly requestedCustomer: Customer | undefined;
  readonly lines: readonly CatalogueLine[];
};

export type RuleNeeds = {
  readonly rules: readonly ValidationRule[];
  readonly collectionIds: readonly string[];
  readonly itemNames: readonly string[];
};

export async function loadRuleData(
  deps: Deps,
  call: Call,
  subject: RuleInput,
  needs: RuleNeeds,
): Promise<RuleData> {
  const { collectionIds, itemNames } = needs;
  const { lines } = subject;
  const [memberships, collections, catalogue] = await Promise.all([
    needs.rules.some(readsMemberships) ? loadMemberships(deps, call, subject) : undefined,
    collectionIds.length > 0 && lines.length > 0
      ? loadCollectionsOfLines(deps, call, { lines, ids: collectionIds })
      : [],
    loadCatalogueItems(deps, call, { names: itemNames, collectionIds }),
  ]);
  if (memberships !== undefined) requireReadable(needs.rules, memberships);
  return {
    segments: memberships?.segmentIds ?? [],
    loyaltyTiers: memberships?.loyaltyTierIds ?? [],
    collections,
    catalogue,
  };
}

/** A customer who is not stored can be in segments too. */
async function loadMemberships(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  { requestedCustomer }: RuleInput,
): Promise<CustomerResult | undefined> {
  if (requestedCustomer === undefined) return undefined;
  const { firstWeekday } = call.project;
  return clients.resolveCustomer(
    {
      projectId: call.project.id,
      customer: requestedCustomer,
      upsert: false,
      now: instantToProto(call.now),
      withSegments: true,
      timeZone: call.project.timeZone,
      ...(firstWeekday !== undefined && { firstWeekday }),
    },
    call,
  );
}

/** A guess at whether the customer is in a segment that cannot be read could grant a discount. */
function requireReadable(
  rules: readonly ValidationRule[],
  { unreadableSegmentIds: unreadable }: CustomerResult,
): void {
  if (unreadable.length === 0) return;
  for (const rule of rules) {
    const id = namedSegments(rule).find((segment) => unreadable.includes(segment));
    if (id !== undefined) {
      throw new Error(`validation rule ${rule.id} names segment ${id}, which cannot be read`);
    }
  }
}

const MEMBERSHIPS: ReadonlySet<string> = new Set(["customer.segment", "customer.loyalty.tier"]);

const readsMemberships = ({ rules }: { readonly rules: ReadonlyMap<number, Rule> }): boolean =>
  [...rules.values()].some(
    ({ name, children }) =>
      MEMBERSHIPS.has(name) || (children !== null && readsMemberships(children)),
  );

async function loadCatalogueItems(
  deps: Deps,
  call: Call,
  {
    names,
    collectionIds,
  }: { readonly names: readonly string[]; readonly collectionIds: readonly string[] },
): Promise<ReadonlyMap<string, CatalogueItem>> {
  if (names.length === 0) return NO_ITEMS;
  const loaded = [...(await loadCatalogueUnits(deps, call.project.id, names))];
  const lines = loaded.map(([, { line }]) => line);
  const collections =
    collectionIds.length > 0
      ? await loadCollectionsOfLines(deps, call, { lines, ids: collectionIds })
      : [];
  return new Map(
    loaded.map(([name, unit], index): [string, CatalogueItem] => [
      name,
      {
        productId: unit.productId,
        skuId: unit.skuId,
        productSourceId: unit.productSourceId,
        skuSourceId: unit.skuSourceId,
        name: unit.name,
        skuLabel: unit.sku,
        price: unit.price,
        productPrice: unit.productPrice,
        metadata: unit.skuMetadata as CatalogueItem["metadata"],
        productMetadata: unit.productMetadata as CatalogueItem["metadata"],
        collections: collections[index] ?? [],
      },
    ]),
  );
}

const NO_ITEMS: ReadonlyMap<string, CatalogueItem> = new Map();

export const NO_RULE_DATA: RuleData = {
  segments: [],
  loyaltyTiers: [],
  collections: [],
  catalogue: NO_ITEMS,
};
