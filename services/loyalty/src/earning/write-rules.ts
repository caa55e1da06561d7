import type { JsonObject } from "@bufbuild/protobuf";
import { notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { Call } from "@scrip/rpc";
import type { Metadata } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import type { EarningRule } from "../domain/earning/earning-rule.ts";
import { announceEarningRules } from "../events/earning-rules-found.ts";
import {
  type EarningRuleReference,
  findEarningRule,
  updateEarningRule,
} from "../store/earning-rules.ts";
import { upsertValidationRules } from "../store/validation-rules.ts";

/** A validation rule as the gateway resolved it: its conditions, and when it changed last. */
type ResolvedRule = {
  readonly validationRuleId?: string | undefined;
  readonly validationRule?: JsonObject | undefined;
};

/**
 * Stores the validation rules of a request, so that they apply before their event arrives. Direct callers that pass no
 * conditions refer to rules that have arrived; others are unknown.
 */
export async function storeValidationRules(
  tx: Queryable,
  projectId: string,
  requests: readonly ResolvedRule[],
): Promise<void> {
  const rules = requests.flatMap(({ validationRuleId: id, validationRule }) => {
    if (id === undefined) return [];
    if (validationRule === undefined) throw notFound("validation_rules", id);
    const { rules: conditions, changed_at: changedAt } = validationRule;
    return [
      {
        projectId,
        id,
        rules: conditions as Metadata,
        changedAt: new Date(typeof changedAt === "string" ? changedAt : 0),
      },
    ];
  });
  await upsertValidationRules(tx, rules);
}

/** Changes a rule under its lock, or `not_found`. */
export async function changeEarningRule(
  deps: Deps,
  { call, ...rule }: Omit<EarningRuleReference, "projectId"> & { readonly call: Call },
  change: (rule: EarningRule, tx: Queryable) => EarningRule | Promise<EarningRule>,
): Promise<EarningRule> {
  const projectId = call.project.id;
  const written = await deps.definitions.write(projectId, async (tx) => {
    const before = await findEarningRule(tx, { projectId, ...rule }, { lock: true });
    if (before === undefined) throw notFound("earning_rule", rule.id);
    const changed = await change(before, tx);
    if (changed !== before) await updateEarningRule(tx, projectId, changed);
    await announceEarningRules(tx, call);
    return changed;
  });
  deps.onEvents();
  return written;
}
