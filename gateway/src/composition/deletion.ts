import { type DescMessage, getOption, type Message } from "@bufbuild/protobuf";
import { inUse } from "@scrip/errors";
import { rule } from "@scrip/proto/scrip/options/v1/options_pb";
import type { Call } from "@scrip/rpc";

import type { ValidationRules } from "./clients/validation-rules.ts";

/** What a request deletes of that which validation rules have to do with; the field by its local name. */
export type DeletionPlan = {
  readonly field: string;
  readonly type: string;
  /** Rules that name the object keep it; rules that are assigned to it go with it. */
  readonly rules: "keep_it" | "go_with_it";
};

const RULES: Readonly<Record<string, DeletionPlan["rules"]>> = {
  segment: "keep_it",
  promotion_tier: "go_with_it",
  reward_assignment: "go_with_it",
  // And what stacking rules say of it.
  category: "go_with_it",
};

export function planDeletion(desc: DescMessage): DeletionPlan | undefined {
  const field = desc.fields.find((one) => getOption(one, rule).deletes !== "");
  if (field === undefined) return undefined;
  const type = getOption(field, rule).deletes;
  const rules = RULES[type];
  if (rules === undefined) throw new Error(`${desc.typeName} deletes the unknown ${type}`);
  return { field: field.localName, type, rules };
}

export type Deletion = {
  readonly plan: DeletionPlan;
  readonly message: Message;
  readonly call: Call;
};

/** The owner of the object may not ask about rules, so the door does, before the call. */
export async function rejectIfInUse(
  rules: ValidationRules,
  { plan, message, call }: Deletion,
): Promise<void> {
  if (plan.rules !== "keep_it") return;
  const id = idIn(plan, message);
  const { ruleIds, total } = await rules.naming(id, call);
  if (total > 0n) throw inUse(plan.type, id, { type: "validation_rule", ids: ruleIds, total });
}

/** After the call. What cannot be taken away stays like what is left after a crash, until the rule goes. */
export async function deleteAssignmentsOf(
  rules: ValidationRules,
  { plan, message, call }: Deletion,
): Promise<void> {
  if (plan.rules !== "go_with_it") return;
  const projectId = call.project.id;
  const relatedObjectId = idIn(plan, message);
  await Promise.allSettled([
    rules.revoke({ $typeName: "scrip.validation.v1.RevokeRulesItem", projectId, relatedObjectId }),
  ]);
}

const idIn = ({ field }: DeletionPlan, message: Message): string =>
  (message as Message & Record<string, unknown>)[field] as string;
