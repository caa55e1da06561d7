import type { Message } from "@bufbuild/protobuf";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type {
  ValidationRulesAssignment,
  ValidationRulesAssignmentList,
} from "@scrip/proto/scrip/common/v1/validation_rules_assignment_pb";
import type { ResolvedUnit } from "@scrip/proto/scrip/validation/v1/products_pb";

import type { Campaigns } from "./clients/campaigns.ts";
import type { Categories } from "./clients/categories.ts";
import type { Units } from "./clients/units.ts";
import type { ValidationRules } from "./clients/validation-rules.ts";
import type {
  ResponsePlan,
  AssignmentFields,
  CategoryFields,
  UnitFields,
} from "./response-plan.ts";

/** Who knows what requests and answers refer to; one that the door has no way to is left out. */
export type CompositionClients = {
  readonly campaigns: Campaigns | undefined;
  readonly categories: Categories | undefined;
  readonly rules: ValidationRules | undefined;
  readonly units: Units | undefined;
};

// Only the plans know what the messages are; to this module they are records of fields.
type Fields = Record<string, unknown>;

type NeededIds = {
  readonly categories: Set<string>;
  readonly objects: Set<string>;
  readonly units: Set<string>;
};

type LoadedReferences = {
  readonly categories: ReadonlyMap<string, Category> | undefined;
  readonly assignments: ReadonlyMap<string, readonly ValidationRulesAssignment[]> | undefined;
  readonly units: ReadonlyMap<string, ResolvedUnit> | undefined;
};

/** How many assignments of one object an answer shows; the total counts them all. */
const SHOWN_ASSIGNMENTS = 100;

/**
 * Fills in what an answer refers to: categories from their ids, the validation rules of objects, and
 * what discounts give units of.
 * Messages are read-only once sent, so what changes is copied, and only that.
 */
export async function completeResponse(
  plan: ResponsePlan,
  message: Message,
  sources: CompositionClients,
  projectId: string,
): Promise<Message> {
  const wanted: NeededIds = { categories: new Set(), objects: new Set(), units: new Set() };
  collect(plan, message, wanted);
  if (Object.values(wanted).every(({ size }) => size === 0)) return message;
  const [categories, assignments, units] = await Promise.all([
    sources.categories && findCategories(sources.categories, projectId, wanted.categories),
    sources.rules?.find(projectId, [...wanted.objects]),
    wanted.units.size > 0 ? sources.units?.find(projectId, [...wanted.units]) : undefined,
  ]);
  return fill(plan, message as Message & Fields, { categories, assignments, units });
}

async function findCategories(
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

function collect(plan: ResponsePlan, fields: Fields, wanted: NeededIds): void {
  const categoryId = plan.categories && fields[plan.categories.id];
  if (isId(categoryId)) wanted.categories.add(categoryId);
  if (plan.assignments !== undefined) {
    for (const id of objectsOf(plan.assignments, fields)) wanted.objects.add(id);
  }
  const unitName = plan.unit && unitOf(plan.unit, fields);
  if (unitName !== undefined) wanted.units.add(unitName);
  for (const { local, many, plan: child } of plan.children) {
    const value = fields[local];
    if (value === undefined) continue;
    if (many) for (const item of value as Fields[]) collect(child, item, wanted);
    else collect(child, value as Fields, wanted);
  }
}

/** The object itself and its campaign; nothing where the service has filled the list in. */
function objectsOf({ list, ids }: AssignmentFields, fields: Fields): readonly string[] {
  return fields[list] === undefined ? ids.map((id) => fields[id]).filter(isId) : [];
}

/** Nothing where the service has told already what it is. */
function unitOf({ type, product, sku }: UnitFields, fields: Fields): string | undefined {
  const name = fields[type];
  return isId(name) && fields[product] === undefined && fields[sku] === undefined
    ? name
    : undefined;
}

const isId = (value: unknown): value is string => typeof value === "string" && value !== "";

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
    // What is in a category that was deleted is in none.
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
  return { [plan.list]: list };
}
