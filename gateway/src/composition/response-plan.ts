import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { Reference, rule } from "@scrip/proto/scrip/options/v1/options_pb";

/** The fields of a request that name a category, by id or by name. */
export type CategoryPlan = {
  readonly name: Names | undefined;
  readonly id: Names;
  /** Where the names of the fields that were sent are listed. */
  readonly mask: string | undefined;
};

type Names = { readonly local: string; readonly proto: string };

/** What in an answer refers to other things; messages that do not have no plan and cost nothing. */
export type ResponsePlan = {
  readonly categories: CategoryFields | undefined;
  readonly assignments: AssignmentFields | undefined;
  readonly unit: UnitFields | undefined;
  readonly children: readonly Child[];
};

export type CategoryFields = {
  readonly id: string;
  readonly name: string | undefined;
  readonly all: string;
};

export type AssignmentFields = {
  readonly list: string;
  /** The fields with the ids of the objects whose validation rules count. */
  readonly ids: readonly string[];
};

/** What units are given of, and where it is told. */
export type UnitFields = { readonly type: string; readonly product: string; readonly sku: string };

export type Child = { readonly local: string; readonly many: boolean; readonly plan: ResponsePlan };

export function planCategory(desc: DescMessage): CategoryPlan | undefined {
  const id = fieldOf(desc, Reference.CATEGORY_ID);
  if (id === undefined) return undefined;
  const name = fieldOf(desc, Reference.CATEGORY_NAME);
  const mask = desc.fields.find(({ message }) => message?.typeName === "google.protobuf.FieldMask");
  return { id: names(id), name: name && names(name), mask: mask?.localName };
}

export function planResponse(desc: DescMessage): ResponsePlan | undefined {
  return planOf(desc, new Map());
}

function planOf(
  desc: DescMessage,
  known: Map<DescMessage, ResponsePlan | undefined>,
): ResponsePlan | undefined {
  if (known.has(desc)) return known.get(desc);
  // What contains itself is not followed any deeper: the contract has no such answers.
  known.set(desc, undefined);
  const children: Child[] = [];
  for (const field of desc.fields) {
    const { message } = field;
    if (message === undefined || field.fieldKind === "map") continue;
    const plan = planOf(message, known);
    if (plan === undefined) continue;
    if (field.oneof !== undefined) throw new Error(`references in a oneof: ${field.toString()}`);
    children.push({ local: field.localName, many: field.fieldKind === "list", plan });
  }
  const categories = categoryFields(desc);
  const assignments = assignmentFields(desc);
  const unit = unitFields(desc);
  const isPlain = !categories && !assignments && !unit && children.length === 0;
  const plan = isPlain ? undefined : { categories, assignments, unit, children };
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

/** An object has its own rules and those of its campaign, in this order. */
function assignmentFields(desc: DescMessage): AssignmentFields | undefined {
  const list = fieldOf(desc, Reference.RULES_ASSIGNMENTS);
  if (list === undefined) return undefined;
  const ids = ["id", "campaign_id"].flatMap(
    (name) => desc.fields.find((field) => field.name === name)?.localName ?? [],
  );
  return { list: list.localName, ids };
}

function unitFields(desc: DescMessage): UnitFields | undefined {
  const type = fieldOf(desc, Reference.UNIT_TYPE);
  if (type === undefined) return undefined;
  const [product, sku] = ["product", "sku"].map((name) =>
    desc.fields.find((field) => field.name === name),
  );
  if (product === undefined || sku === undefined) {
    throw new Error(`${desc.typeName} gives units but has no place to tell of what`);
  }
  return { type: type.localName, product: product.localName, sku: sku.localName };
}

const fieldOf = (desc: DescMessage, reference: Reference): DescField | undefined =>
  desc.fields.find((field) => getOption(field, rule).reference === reference);

const names = (field: DescField): Names => ({ local: field.localName, proto: field.name });
