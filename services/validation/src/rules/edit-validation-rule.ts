import { ApiError } from "@scrip/errors";
import type {
  CreateValidationRuleRequest,
  UpdateValidationRuleRequest,
} from "@scrip/proto/scrip/validation/v1/rules_pb";
import { parseValidationRule } from "@scrip/rules";

import { ruleDefinitionFromRow, ruleScopeToRow } from "../store/rule-definition.ts";
import type { RuleRow } from "../store/validation-rules.ts";

type Context = { readonly newId: () => string; readonly now: number };

const DEFAULT_TYPE = "expression";
const DEFAULT_CONTEXT = "global";

/** The rule with what was sent in place of what was there: fields are replaced as a whole. */
export function validationRuleToRow(
  request: CreateValidationRuleRequest | UpdateValidationRuleRequest,
  stored: RuleRow | undefined,
  { newId, now }: Context,
): RuleRow {
  const sent = new Set(
    request.$typeName === "scrip.validation.v1.UpdateValidationRuleRequest"
      ? request.updateMask?.paths
      : [],
  );
  /** `null` clears a field. */
  const kept = <Value>(name: string, value: Value | null | undefined): Value | null =>
    sent.has(name) ? null : (value ?? null);
  const at = new Date(now);
  const id = stored?.id ?? newId();
  return {
    id,
    name: request.name ?? stored?.name ?? id,
    type: request.type ?? kept("type", stored?.type) ?? DEFAULT_TYPE,
    context_type:
      request.contextType ?? kept("context_type", stored?.context_type) ?? DEFAULT_CONTEXT,
    rules: request.rules ?? kept("rules", stored?.rules) ?? {},
    bundle_rules: request.bundleRules ?? kept("bundle_rules", stored?.bundle_rules),
    applicable_to:
      request.applicableTo === undefined
        ? kept("applicable_to", stored?.applicable_to)
        : ruleScopeToRow(request.applicableTo),
    error_message:
      request.error === undefined
        ? kept("error", stored?.error_message)
        : (request.error.message ?? null),
    created_at: stored?.created_at ?? at,
    updated_at: stored === undefined ? null : at,
  };
}

/** A rule that could not be evaluated later is not stored. */
export function rejectUnparsableRule(row: RuleRow): void {
  const parsed = parseValidationRule(ruleDefinitionFromRow(row.id, row));
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_validation_rules", { details: parsed.text });
  }
}
