import type { Message } from "@bufbuild/protobuf";
import { invalidPayload, notFound } from "@scrip/errors";
import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";

import type { Categories } from "./categories.ts";
import type { AnswerPlan, RequestPlan } from "./plan.ts";

// Only the plans know what the messages are; to this module they are records of fields.
type Fields = Record<string, unknown>;

/** Turns the category that a request names into its id, before the owner of the resource sees it. */
export async function resolveRequest(
  plan: RequestPlan,
  message: Message,
  categories: Categories,
  projectId: string,
): Promise<Message> {
  const fields = message as Message & Fields;
  const id = fields[plan.id.local] as string | undefined;
  const name = plan.name && (fields[plan.name.local] as string | undefined);
  if (id !== undefined && id !== "" && name !== undefined && name !== "") {
    throw invalidPayload(`Property .${plan.name?.proto} and .${plan.id.proto} exclude each other`);
  }
  if (id !== undefined && id !== "") {
    const found = await categories.byId(projectId, id);
    if (found === undefined) throw notFound("category", id);
    return message;
  }
  if (name !== undefined && name !== "") {
    const found = await categories.byName(projectId, name);
    if (found === undefined) throw notFound("category", name);
    return renamed(plan, fields, found.id);
  }
  // `category: null` takes the resource out of its category, as `category_id: null` does.
  return renamed(plan, fields, undefined);
}

function renamed(
  plan: RequestPlan,
  fields: Message & Fields,
  id: string | undefined,
): Message & Fields {
  const copy: Message & Fields = { ...fields, [plan.id.local]: id };
  if (plan.name !== undefined) copy[plan.name.local] = undefined;
  const mask = plan.mask && (fields[plan.mask] as { paths: readonly string[] } | undefined);
  if (mask && plan.mask !== undefined && plan.name !== undefined) {
    const { proto } = plan.name;
    const paths = mask.paths.map((path) => (path === proto ? plan.id.proto : path));
    copy[plan.mask] = { ...mask, paths: [...new Set(paths)] };
  }
  return copy;
}

/**
 * Fills the categories of an answer in from their ids. Messages are read-only once sent, so what
 * changes is copied, and only that.
 */
export async function composeAnswer(
  plan: AnswerPlan,
  message: Message,
  categories: Categories,
  projectId: string,
): Promise<Message> {
  const ids = new Set<string>();
  collect(plan, message, ids);
  if (ids.size === 0) return message;
  const found = new Map<string, Category>();
  await Promise.all(
    [...ids].map(async (id) => {
      const category = await categories.recall(projectId, id);
      if (category !== undefined) found.set(id, category);
    }),
  );
  return fill(plan, message as Message & Fields, found);
}

function collect(plan: AnswerPlan, fields: Fields, ids: Set<string>): void {
  if (plan.own !== undefined) {
    const id = fields[plan.own.id];
    if (typeof id === "string" && id !== "") ids.add(id);
  }
  for (const { local, many, plan: child } of plan.children) {
    const value = fields[local];
    if (value === undefined) continue;
    if (many) for (const item of value as Fields[]) collect(child, item, ids);
    else collect(child, value as Fields, ids);
  }
}

function fill<M extends Fields>(
  plan: AnswerPlan,
  fields: M,
  found: ReadonlyMap<string, Category>,
): M {
  const copy: Fields = { ...fields };
  for (const { local, many, plan: child } of plan.children) {
    const value = fields[local];
    if (value === undefined) continue;
    copy[local] = many
      ? (value as Fields[]).map((item) => fill(child, item, found))
      : fill(child, value as Fields, found);
  }
  const { own } = plan;
  const id = own && fields[own.id];
  if (own !== undefined && typeof id === "string" && id !== "") {
    const category = found.get(id);
    // What is in a category that was deleted is in none.
    copy[own.all] = category === undefined ? [] : [category];
    copy[own.id] = category?.id;
    if (own.name !== undefined) copy[own.name] = category?.name;
  }
  return copy as M;
}
