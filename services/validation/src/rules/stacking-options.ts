import { invalidPayload, notFound } from "@scrip/errors";
import type {
  CreateStackingRulesRequest,
  UpdateStackingRulesRequest,
} from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  DEFAULT_STACKING_RULES,
  stackingContradiction,
  type StackingOptions,
} from "../domain/stacking/stacking-rules.ts";

type Request = CreateStackingRulesRequest | UpdateStackingRulesRequest;
type Name = keyof typeof DEFAULT_STACKING_RULES;

const NAMES = Object.keys(DEFAULT_STACKING_RULES) as readonly Name[];

/** The options with what was sent over them; one that was sent as `null` is no longer set. */
export function updatedStackingOptions(stored: StackingOptions, request: Request): StackingOptions {
  const sent = new Set(request.updateMask?.paths);
  const entries = NAMES.map((name) => [
    name,
    sent.has(snakeCase(name)) ? plain(request[name]) : stored[name],
  ]);
  // The contract has checked the values of the request: they are what the domain calls them.
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as StackingOptions;
}

export function rejectContradiction(options: StackingOptions): void {
  const contradiction = stackingContradiction(options);
  if (contradiction !== null) throw invalidPayload(contradiction);
}

/** A category that nobody knows would change nothing, and nobody would notice. */
export async function rejectUnknownCategories(
  deps: Pick<Deps, "clients">,
  call: Call,
  ids: readonly string[],
): Promise<void> {
  const answers = await Promise.all(
    ids.map((id) => deps.clients.resolveCategory({ projectId: call.project.id, id })),
  );
  for (const [index, { category }] of answers.entries()) {
    if (category === undefined) throw notFound("category", ids[index] ?? "");
  }
}

const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function plain(value: Request[Name]): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([id, limit]) => [id, Number(limit)]));
}
