import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { invalidPayload, notFound } from "@scrip/errors";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

import type { Categories } from "./clients/categories.ts";
import type { CompileStep, MessageFields } from "./step.ts";

export const resolveCategoryStep: CompileStep = ({ rpc }, { categories }) => {
  const plan = planCategory(rpc.input);
  if (plan === undefined || categories === undefined) return undefined;
  return (next) => async (message, call) =>
    next(await resolveCategory(plan, message, categories, call.project.id), call);
};

/** The fields of a request that name a category, by id or by name. */
type CategoryPlan = {
  readonly name: FieldNames | undefined;
  readonly id: FieldNames;
  /** The field mask of an update, which lists the fields that were sent. */
  readonly mask: string | undefined;
};

type FieldNames = { readonly local: string; readonly proto: string };

function planCategory(desc: DescMessage): CategoryPlan | undefined {
  const id = fieldOf(desc, Reference.CATEGORY_ID);
  if (id === undefined) return undefined;
  const name = fieldOf(desc, Reference.CATEGORY_NAME);
  const mask = desc.fields.find(({ message }) => message?.typeName === "google.protobuf.FieldMask");
  return { id: namesOf(id), name: name && namesOf(name), mask: mask?.localName };
}

const fieldOf = (desc: DescMessage, reference: Reference): DescField | undefined =>
  desc.fields.find((field) => ruleOf(field).reference === reference);

const namesOf = (field: DescField): FieldNames => ({ local: field.localName, proto: field.name });

async function resolveCategory(
  plan: CategoryPlan,
  message: Message,
  categories: Categories,
  projectId: string,
): Promise<Message> {
  const fields = message as MessageFields;
  const id = fields[plan.id.local] as string | undefined;
  const name = plan.name && (fields[plan.name.local] as string | undefined);
  if (id !== undefined && id !== "") {
    const category = await categories.byId(projectId, id);
    if (category === undefined) throw notFound("category", id);
    if (name === undefined || name === "") return message;
    // Responses have both, and clients send them back.
    if (category.name === name) return withCategoryId(plan, fields, id);
    throw invalidPayload(`Property .${plan.name?.proto} and .${plan.id.proto} differ`);
  }
  if (name !== undefined && name !== "") {
    const category = await categories.byName(projectId, name);
    if (category === undefined) throw notFound("category", name);
    return withCategoryId(plan, fields, category.id);
  }
  // `category: null` removes the resource from its category, as `category_id: null` does.
  return withCategoryId(plan, fields, undefined);
}

function withCategoryId(
  plan: CategoryPlan,
  fields: MessageFields,
  id: string | undefined,
): MessageFields {
  const copy: MessageFields = { ...fields, [plan.id.local]: id };
  if (plan.name !== undefined) copy[plan.name.local] = undefined;
  const mask = plan.mask && (fields[plan.mask] as { paths: readonly string[] } | undefined);
  if (mask && plan.mask !== undefined && plan.name !== undefined) {
    const { proto } = plan.name;
    const paths = mask.paths.map((path) => (path === proto ? plan.id.proto : path));
    copy[plan.mask] = { ...mask, paths: [...new Set(paths)] };
  }
  return copy;
}
