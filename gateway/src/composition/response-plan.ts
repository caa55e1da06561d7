import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

/** References in a response that the gateway fills in; messages without references have no plan. */
export type ResponsePlan = {
  readonly categories: CategoryFields | undefined;
  readonly assignments: AssignmentFields | undefined;
  readonly unit: UnitFields | undefined;
  /** The message is a customer, whose points and gift credits are filled in. */
  readonly isCustomer: boolean;
  readonly children: readonly Child[];
};

export type CategoryFields = {
  readonly id: string;
  readonly name: string | undefined;
  readonly all: string;
};

export type AssignmentFields = {
  readonly list: string;
  /** Other names of the same list. */
  readonly aliases: readonly string[];
  /** The fields that hold the ids of the object and of its campaign. */
  readonly ids: readonly string[];
};

/** The product or SKU of a unit discount, and the fields that show it. */
export type UnitFields = { readonly type: string; readonly product: string; readonly sku: string };

export type Child = { readonly local: string; readonly many: boolean; readonly plan: ResponsePlan };

export function planResponse(desc: DescMessage): ResponsePlan | undefined {
  return planOf(desc, new Map());
}

function planOf(
  desc: DescMessage,
  known: Map<DescMessage, ResponsePlan | undefined>,
): ResponsePlan | undefined {
  if (known.has(desc)) return known.get(desc);
  // Recursive messages are visited once: no public response holds references below its own type.
  known.set(desc, undefined);
  const children: Child[] = [];
  for (const field of desc.fields) {
    const { message } = field;
    if (message === undefined || field.fieldKind === "map") continue;
    const plan = planOf(message, known);
    if (plan === undefined) continue;
    if (field.oneof !== undefined)
      throw new Error(`a reference in a oneof is not supported: ${field.toString()}`);
    children.push({ local: field.localName, many: field.fieldKind === "list", plan });
  }
  const categories = categoryFields(desc);
  const assignments = assignmentFields(desc);
  const unit = unitFields(desc);
  const isCustomer = fieldOf(desc, Reference.HOLDINGS) !== undefined;
  const isPlain = !categories && !assignments && !unit && !isCustomer && children.length === 0;
  const plan = isPlain ? undefined : { categories, assignments, unit, isCustomer, children };
  known.set(desc, plan);
  return plan;
}

function categoryFields(desc: DescMessage): CategoryFields | undefined {
  const all = fieldOf(desc, Reference.CATEGORIES);
  if (all === undefined) return undefined;
  const id = desc.fields.find(({ name }) => name === "category_id");
  if (id === undefined) throw new Error(`${desc.typeName} has categories but no category_id`);
  const name = desc.fields.find((field) => field.name === "category");
  return { id: id.localName, name: name?.localName, all: all.localName };
}

/** Assignments of the object come before those of its campaign. */
function assignmentFields(desc: DescMessage): AssignmentFields | undefined {
  const lists = desc.fields.filter((field) => isReference(field, Reference.RULES_ASSIGNMENTS));
  const [list] = lists;
  if (list === undefined) return undefined;
  const ids = ["id", "campaign_id"].flatMap(
    (name) => desc.fields.find((field) => field.name === name)?.localName ?? [],
  );
  return { list: list.localName, aliases: lists.slice(1).map((each) => each.localName), ids };
}

function unitFields(desc: DescMessage): UnitFields | undefined {
  const type = fieldOf(desc, Reference.UNIT_TYPE);
  if (type === undefined) return undefined;
  const [product, sku] = ["product", "sku"].map((name) =>
    desc.fields.find((field) => field.name === name),
  );
  if (product === undefined || sku === undefined) {
    throw new Error(`${desc.typeName} has a unit type but no product and sku fields`);
  }
  return { type: type.localName, product: product.localName, sku: sku.localName };
}

const fieldOf = (desc: DescMessage, reference: Reference): DescField | undefined =>
  desc.fields.find((field) => isReference(field, reference));

const isReference = (field: DescField, reference: Reference): boolean =>
  ruleOf(field).reference === reference;
