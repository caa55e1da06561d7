import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { Reference, rule } from "@scrip/proto/scrip/options/v1/options_pb";

/** The fields of a request that name a category, by id or by name. */
export type RequestPlan = {
  readonly name: Names | undefined;
  readonly id: Names;
  /** Where the names of the fields that were sent are listed. */
  readonly mask: string | undefined;
};

type Names = { readonly local: string; readonly proto: string };

/** Where in an answer categories stand; messages without any have no plan and cost nothing. */
export type AnswerPlan = {
  readonly own: OwnFields | undefined;
  readonly children: readonly Child[];
};

export type OwnFields = {
  readonly id: string;
  readonly name: string | undefined;
  readonly all: string;
};

export type Child = { readonly local: string; readonly many: boolean; readonly plan: AnswerPlan };

export function planRequest(desc: DescMessage): RequestPlan | undefined {
  const id = fieldOf(desc, Reference.CATEGORY_ID);
  if (id === undefined) return undefined;
  const name = fieldOf(desc, Reference.CATEGORY_NAME);
  const mask = desc.fields.find(({ message }) => message?.typeName === "google.protobuf.FieldMask");
  return { id: names(id), name: name && names(name), mask: mask?.localName };
}

export function planAnswer(desc: DescMessage): AnswerPlan | undefined {
  return planOf(desc, new Map());
}

function planOf(
  desc: DescMessage,
  known: Map<DescMessage, AnswerPlan | undefined>,
): AnswerPlan | undefined {
  if (known.has(desc)) return known.get(desc);
  // What contains itself is not followed any deeper: the contract has no such answers.
  known.set(desc, undefined);
  const children: Child[] = [];
  for (const field of desc.fields) {
    const { message } = field;
    if (message === undefined || field.fieldKind === "map") continue;
    const plan = planOf(message, known);
    if (plan === undefined) continue;
    if (field.oneof !== undefined) throw new Error(`categories in a oneof: ${field.toString()}`);
    children.push({ local: field.localName, many: field.fieldKind === "list", plan });
  }
  const own = ownFields(desc);
  const plan = own === undefined && children.length === 0 ? undefined : { own, children };
  known.set(desc, plan);
  return plan;
}

function ownFields(desc: DescMessage): OwnFields | undefined {
  const all = fieldOf(desc, Reference.CATEGORIES);
  if (all === undefined) return undefined;
  const id = desc.fields.find(({ name }) => name === "category_id");
  if (id === undefined) throw new Error(`${desc.typeName} has categories but no category_id`);
  const name = desc.fields.find((field) => field.name === "category");
  return { id: id.localName, name: name?.localName, all: all.localName };
}

const fieldOf = (desc: DescMessage, reference: Reference): DescField | undefined =>
  desc.fields.find((field) => getOption(field, rule).reference === reference);

const names = (field: DescField): Names => ({ local: field.localName, proto: field.name });
