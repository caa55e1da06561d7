import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { ruleOf } from "@scrip/contract";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";
import type { ValidationRule } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Call } from "@scrip/rpc";

import type { ValidationRules } from "./clients/validation-rules.ts";
import type { CompileStep, Fields, MessageFields } from "./step.ts";

/** Loyalty, which owns earning rules, must not call the service that owns validation rules. */
export const loadValidationRuleStep: CompileStep = ({ rpc }, { validationRules }) => {
  const own = ruleFieldOf(rpc.input);
  const list = rpc.input.fields.find(
    (field) => field.fieldKind === "list" && field.message && ruleFieldOf(field.message),
  );
  if ((own ?? list) === undefined || validationRules === undefined) return undefined;
  const inList = list?.message && ruleFieldOf(list.message);
  return (next) => async (message, call) => {
    const fields = message as MessageFields;
    if (own !== undefined) return next(await resolve(fields, own, { validationRules, call }), call);
    const items = fields[list?.localName ?? ""] as readonly Fields[];
    const resolved = await Promise.all(
      items.map((item) => resolve(item, inList ?? "", { validationRules, call })),
    );
    return next({ ...fields, [list?.localName ?? ""]: resolved }, call);
  };
};

/** The field that names a validation rule, as its local name. */
const ruleFieldOf = (desc: DescMessage): string | undefined =>
  desc.fields.find((field) => ruleOf(field).reference === Reference.VALIDATION_RULE)?.localName;

async function resolve<Part extends Fields>(
  part: Part,
  field: string,
  { validationRules, call }: { readonly validationRules: ValidationRules; readonly call: Call },
): Promise<Part> {
  const id = part[field];
  if (typeof id !== "string" || id === "") return part;
  return { ...part, validationRule: conditionsOf(await validationRules.load(id, call)) };
}

/** The rule for a service that evaluates it: its conditions, and when they changed last. */
export function conditionsOf({ rules, createdAt, updatedAt }: ValidationRule): JsonObject {
  const changed = updatedAt ?? createdAt;
  return {
    rules: rules ?? {},
    changed_at: (changed === undefined ? new Date(0) : timestampDate(changed)).toISOString(),
  };
}
