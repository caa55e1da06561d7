import type { Message } from "@bufbuild/protobuf";
import { customerHoldings } from "@scrip/mapping";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type {
  ValidationRulesAssignment,
  ValidationRulesAssignmentList,
} from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type { CustomerProfile } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { ResolvedUnit } from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Holdings } from "@scrip/proto/scrip/voucher/v1/publications_pb";

import type { Categories } from "./clients/categories.ts";
import type { ValidationRules } from "./clients/validation-rules.ts";
import { completeOrFallBack } from "./complete-or-fall-back.ts";
import {
  type AssignmentFields,
  type CategoryFields,
  planResponse,
  type ResponsePlan,
  type UnitFields,
} from "./response-plan.ts";
import type { CompositionDeps, Fields, MessageFields, Target } from "./step.ts";

/** Returns the same message if nothing had to be added. */
export type CompleteResponse = (
  response: Message,
  projectId: string,
  report: (error: unknown) => void,
) => Promise<Message>;

/** A read fails when its references cannot be loaded; the response of a write is sent without them. */
export function compileCompletion(
  { rpc, httpMethod, side }: Target,
  allDeps: CompositionDeps,
): CompleteResponse | undefined {
  const plan = planResponse(rpc.output);
  if (plan === undefined) return undefined;
  const deps: CompletionDeps =
    side === "client" ? { ...allDeps, validationRules: HIDDEN_RULES } : allDeps;
  return httpMethod === "GET"
    ? (response, projectId) => completeResponse(plan, response, deps, projectId)
    : (response, projectId, report) =>
        completeOrFallBack(completeResponse(plan, response, deps, projectId), response, report);
}

type CompletionDeps = Pick<CompositionDeps, "categories" | "units" | "holdings"> & {
  readonly validationRules: Pick<ValidationRules, "find"> | undefined;
};

/** Client-side callers do not see which rules decide. */
const HIDDEN_RULES: Pick<ValidationRules, "find"> = { find: async () => new Map() };

type NeededIds = {
  readonly categories: Set<string>;
  readonly objects: Set<string>;
  readonly units: Set<string>;
  readonly customers: Set<string>;
};

type LoadedReferences = {
  readonly categories: ReadonlyMap<string, Category> | undefined;
  readonly assignments: ReadonlyMap<string, readonly ValidationRulesAssignment[]> | undefined;
  readonly units: ReadonlyMap<string, ResolvedUnit> | undefined;
  readonly holdings: ReadonlyMap<string, Holdings> | undefined;
};

/** Assignments listed per object; `total` counts all of them. */
const SHOWN_ASSIGNMENTS = 100;

async function completeResponse(
  plan: ResponsePlan,
  message: Message,
  clients: CompletionDeps,
  projectId: string,
): Promise<Message> {
  const needed: NeededIds = {
    categories: new Set(),
    objects: new Set(),
    units: new Set(),
    customers: new Set(),
  };
  collect(plan, message, needed);
  if (Object.values(needed).every(({ size }) => size === 0)) return message;
  const [categories, assignments, units, holdings] = await Promise.all([
    clients.categories && loadCategories(clients.categories, projectId, needed.categories),
    clients.validationRules?.find(projectId, [...needed.objects]),
    needed.units.size > 0 ? clients.units?.find(projectId, [...needed.units]) : undefined,
    needed.customers.size > 0
      ? clients.holdings?.find(projectId, [...needed.customers])
      : undefined,
  ]);
  return fill(plan, message as MessageFields, { categories, assignments, units, holdings });
}

async function loadCategories(
  categories: Categories,
  projectId: string,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Category>> {
  const found = new Map<string, Category>();
  await Promise.all(
    [...ids].map(async (id) => {
      const category = await categories.cachedById(projectId, id);
      if (category !== undefined) found.set(id, category);
    }),
  );
  return found;
}

function collect(plan: ResponsePlan, fields: Fields, needed: NeededIds): void {
  const categoryId = plan.categories && fields[plan.categories.id];
  if (isId(categoryId)) needed.categories.add(categoryId);
  if (plan.assignments !== undefined) {
    for (const id of objectsOf(plan.assignments, fields)) needed.objects.add(id);
  }
  const unitName = plan.unit && unitOf(plan.unit, fields);
  if (unitName !== undefined) needed.units.add(unitName);
  if (plan.isCustomer) needed.customers.add((fields as unknown as CustomerProfile).id);
  for (const { local, many, plan: child } of plan.children) {
    const value = fields[local];
    if (value === undefined) continue;
    if (many) for (const item of value as Fields[]) collect(child, item, needed);
    else collect(child, value as Fields, needed);
  }
}

/** The object and its campaign; none where the service filled in the list. */
function objectsOf({ list, ids }: AssignmentFields, fields: Fields): readonly string[] {
  return fields[list] === undefined ? ids.map((id) => fields[id]).filter(isId) : [];
}

/** Undefined where the service filled in the product or SKU. */
function unitOf({ type, product, sku }: UnitFields, fields: Fields): string | undefined {
  const name = fields[type];
  return isId(name) && fields[product] === undefined && fields[sku] === undefined
    ? name
    : undefined;
}

const isId = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Messages are read-only once sent, so each message on the way to a change is copied. */
function fill<M extends Fields>(plan: ResponsePlan, fields: M, found: LoadedReferences): M {
  const copy: Fields = { ...fields };
  for (const { local, many, plan: child } of plan.children) {
    const value = fields[local];
    if (value === undefined) continue;
    copy[local] = many
      ? (value as Fields[]).map((item) => fill(child, item, found))
      : fill(child, value as Fields, found);
  }
  if (plan.categories !== undefined && found.categories !== undefined) {
    Object.assign(copy, categoriesOf(plan.categories, fields, found.categories));
  }
  if (plan.assignments !== undefined && found.assignments !== undefined) {
    Object.assign(copy, assignmentsOf(plan.assignments, fields, found.assignments));
  }
  if (plan.unit !== undefined) {
    const unit = found.units?.get(unitOf(plan.unit, fields) ?? "");
    if (unit !== undefined) {
      copy[plan.unit.product] = unit.product;
      copy[plan.unit.sku] = unit.sku;
    }
  }
  if (plan.isCustomer) {
    const customer = fields as unknown as CustomerProfile;
    const holdings = found.holdings?.get(customer.id);
    if (holdings !== undefined) Object.assign(copy, customerHoldings(customer, holdings));
  }
  return copy as M;
}

function categoriesOf(
  { id: idField, name, all }: CategoryFields,
  fields: Fields,
  found: ReadonlyMap<string, Category>,
): Fields {
  const id = fields[idField];
  if (!isId(id)) return {};
  const category = found.get(id);
  return {
    // The category was deleted after the resource was assigned to it.
    [all]: category === undefined ? [] : [category],
    [idField]: category?.id,
    ...(name !== undefined && { [name]: category?.name }),
  };
}

function assignmentsOf(
  plan: AssignmentFields,
  fields: Fields,
  found: ReadonlyMap<string, readonly ValidationRulesAssignment[]>,
): Fields {
  const ids = objectsOf(plan, fields);
  if (ids.length === 0) return {};
  const assignments = ids.flatMap((id) => found.get(id) ?? []);
  const list: ValidationRulesAssignmentList = {
    $typeName: "scrip.common.v1.ValidationRulesAssignmentList",
    data: assignments.slice(0, SHOWN_ASSIGNMENTS),
    total: BigInt(assignments.length),
  };
  return Object.fromEntries([plan.list, ...plan.aliases].map((name) => [name, list]));
}
