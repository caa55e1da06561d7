import type { Message } from "@bufbuild/protobuf";
import { invalidPayload, notFound } from "@scrip/errors";

import type { Categories } from "./clients/categories.ts";
import type { CategoryPlan } from "./response-plan.ts";

// Only the plans know what the messages are; to this module they are records of fields.
type Fields = Record<string, unknown>;

/** Turns the category that a request names into its id, before the owner of the resource sees it. */
export async function resolveCategory(
  plan: CategoryPlan,
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
  plan: CategoryPlan,
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
