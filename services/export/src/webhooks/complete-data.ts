import { customerHoldings } from "@scrip/mapping";
import { CategorySchema } from "@scrip/proto/scrip/common/v1/category_pb";
import { ProductSummarySchema, SkuSummarySchema } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  type ValidationRulesAssignment,
  type ValidationRulesAssignmentList,
  ValidationRulesAssignmentListSchema,
} from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import { CustomerProfileSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { batchCall, type Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";
import { queryChunksOf } from "../query-chunks.ts";
import { encode, undefinedIfDeleted } from "./resource-data.ts";

/** A resource in the form of the API. */
type Node = Record<string, unknown>;

/** Assignments listed per object, as in responses; `total` counts all of them. */
const SHOWN_ASSIGNMENTS = 100;

/** Resources to which validation rules are assigned, most of which have a category, and the names of the list. */
const ASSIGNMENT_LISTS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["voucher", ["validation_rules_assignments"]],
  ["campaign", ["validation_rules_assignments"]],
  ["reward_assignment", ["validation_rules_assignments"]],
  ["promotion_tier", ["validation_rules_assignments", "validation_rule_assignments"]],
]);

/**
 * Fills in what the owner of a resource does not know and the gateway adds to responses (services/decisions/0004,
 * 0023): categories, assignments of validation rules, products of unit discounts, and what customers hold. Takes and
 * returns JSON text.
 */
export async function completeData(clients: Clients, data: string, call: Call): Promise<string> {
  const root: unknown = JSON.parse(data);
  const nodes = [...nodesOf(root)];
  await Promise.all([
    completeCategories(clients, nodes, call),
    completeAssignments(clients, nodes, call),
    completeUnits(clients, nodes, call),
    completeCustomers(clients, nodes, call),
  ]);
  return JSON.stringify(root);
}

/** Metadata and conditions of rules belong to the caller, whatever they look like. */
const OF_THE_CALLER: ReadonlySet<string> = new Set(["metadata", "rules", "filter"]);

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Node;
  for (const [name, child] of Object.entries(value)) {
    if (!OF_THE_CALLER.has(name)) yield* nodesOf(child);
  }
}

/** Summaries, and resources that were deleted, have no time of creation. */
const isWhole = ({ object, created_at: createdAt }: Node): boolean =>
  ASSIGNMENT_LISTS.has(object) && createdAt !== undefined;

const isId = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Filled in where the owner of the resource knows the category. */
const isEmpty = (categories: unknown): boolean =>
  !Array.isArray(categories) || categories.length === 0;

const batchOf = ({ requestId, deadline, now }: Call): Call => batchCall(requestId, deadline, now);

async function completeCategories(
  { categories }: Pick<Clients, "categories">,
  nodes: readonly Node[],
  call: Call,
): Promise<void> {
  const categorized = nodes.filter(
    (node) => isWhole(node) && isId(node["category_id"]) && isEmpty(node["categories"]),
  );
  const ids = [...new Set(categorized.map((node) => String(node["category_id"])))];
  if (ids.length === 0) return;
  const { id: projectId } = call.project;
  const found = await Promise.all(
    queryChunksOf(ids).map((some) =>
      categories.resolveCategories(
        { queries: some.map((id) => ({ projectId, id })) },
        batchOf(call),
      ),
    ),
  );
  const results = found.flatMap((response) => response.results);
  for (const node of categorized) {
    const category = results[ids.indexOf(String(node["category_id"]))]?.category;
    // The category was deleted after the resource was assigned to it.
    if (category === undefined) node["category_id"] = null;
    if ("category" in node) node["category"] = category?.name ?? null;
    node["categories"] =
      category === undefined ? [] : [JSON.parse(encode(CategorySchema, category))];
  }
}

async function completeAssignments(
  { rules }: Pick<Clients, "rules">,
  nodes: readonly Node[],
  call: Call,
): Promise<void> {
  const ruled = nodes.filter(
    (node) => isWhole(node) && node["validation_rules_assignments"] === undefined,
  );
  const objectIds = [...new Set(ruled.flatMap(objectsOf))];
  if (objectIds.length === 0) return;
  const { id: projectId } = call.project;
  const { results } = await rules.resolveAssignments(
    {
      queries: queryChunksOf(objectIds).map((relatedObjectIds) => ({
        projectId,
        relatedObjectIds,
      })),
    },
    batchOf(call),
  );
  const found = Map.groupBy(
    results.flatMap(({ assignments }) => assignments),
    ({ relatedObjectId }) => relatedObjectId,
  );
  for (const node of ruled) {
    const list = listOf(objectsOf(node).flatMap((id) => found.get(id) ?? []));
    for (const name of ASSIGNMENT_LISTS.get(node["object"]) ?? []) node[name] = list;
  }
}

/** The object and its campaign. */
const objectsOf = ({ id, campaign_id: campaignId }: Node): readonly string[] =>
  [id, campaignId].filter(isId);

function listOf(assignments: readonly ValidationRulesAssignment[]): unknown {
  const list: ValidationRulesAssignmentList = {
    $typeName: "scrip.common.v1.ValidationRulesAssignmentList",
    data: assignments.slice(0, SHOWN_ASSIGNMENTS),
    total: BigInt(assignments.length),
  };
  return JSON.parse(encode(ValidationRulesAssignmentListSchema, list));
}

/** The product or SKU that a unit discount adds. */
async function completeUnits(
  { products }: Pick<Clients, "products">,
  nodes: readonly Node[],
  call: Call,
): Promise<void> {
  const discounts = nodes.filter(
    ({ unit_type: unitType, product, sku }) => isId(unitType) && !product && !sku,
  );
  const unitTypes = [...new Set(discounts.map((node) => String(node["unit_type"])))];
  if (unitTypes.length === 0) return;
  const { id: projectId } = call.project;
  const { results } = await products.resolveUnits(
    { queries: queryChunksOf(unitTypes).map((names) => ({ projectId, names })) },
    batchOf(call),
  );
  const units = new Map(
    results.flatMap((result) => result.units.map((unit) => [unit.name, unit] as const)),
  );
  for (const node of discounts) {
    const { product, sku } = units.get(String(node["unit_type"])) ?? {};
    if (product !== undefined) node["product"] = JSON.parse(encode(ProductSummarySchema, product));
    if (sku !== undefined) node["sku"] = JSON.parse(encode(SkuSummarySchema, sku));
  }
}

async function completeCustomers(
  clients: Pick<Clients, "customers" | "holdings">,
  nodes: readonly Node[],
  call: Call,
): Promise<void> {
  const profiles = nodes.filter(
    ({ object, id, loyalty }) => object === "customer" && isId(id) && loyalty !== undefined,
  );
  await Promise.all(profiles.map((node) => completeCustomer(clients, node, call)));
}

async function completeCustomer(
  { customers, holdings }: Pick<Clients, "customers" | "holdings">,
  node: Node,
  call: Call,
): Promise<void> {
  const customerId = String(node["id"]);
  const queries = [{ projectId: call.project.id, customerId }];
  const [profile, { results }] = await Promise.all([
    undefinedIfDeleted(call, () => customers.getCustomer({ customerId }, call)),
    holdings.summarizeHoldings({ queries }, batchOf(call)),
  ]);
  const [held] = results;
  if (profile === undefined || held === undefined) return;
  const full = { ...profile, ...customerHoldings(profile, held) };
  const { loyalty, summary } = JSON.parse(encode(CustomerProfileSchema, full));
  Object.assign(node, { loyalty, summary });
}
