import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import type { NewId } from "@scrip/ids";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";

/** Where a request creates objects that may have validation rules; other requests have no plan. */
export type RulesPlan = {
  readonly own: NewObject | undefined;
  readonly children: readonly Child[];
};

/** An object to be created. Fields have their local names. */
export type NewObject = {
  readonly rules: string;
  readonly reservedId: string;
  readonly type: string;
  readonly prefix: Parameters<NewId>[0];
};

type Child = { readonly field: string; readonly many: boolean; readonly plan: RulesPlan };

const PREFIXES: Readonly<Record<string, NewObject["prefix"]>> = {
  voucher: "v",
  campaign: "camp",
  promotion_tier: "promo",
  reward_assignment: "rewa",
};

export function planRules(desc: DescMessage): RulesPlan | undefined {
  return planOf(desc, new Set());
}

function planOf(desc: DescMessage, parents: ReadonlySet<DescMessage>): RulesPlan | undefined {
  // Recursive messages are visited once: no public request creates objects below its own type.
  if (parents.has(desc)) return undefined;
  const within = new Set([...parents, desc]);
  const children = desc.fields.flatMap((field) => childOf(field, within) ?? []);
  const own = newObject(desc);
  return own === undefined && children.length === 0 ? undefined : { own, children };
}

function childOf(field: DescField, parents: ReadonlySet<DescMessage>): Child | undefined {
  const plan = field.message && planOf(field.message, parents);
  if (plan === undefined) return undefined;
  if (field.oneof !== undefined || field.fieldKind === "map") {
    throw new Error(`validation_rules in a oneof or a map are not supported: ${field.toString()}`);
  }
  return { field: field.localName, many: field.fieldKind === "list", plan };
}

function newObject(desc: DescMessage): NewObject | undefined {
  const rules = desc.fields.find((field) => ruleOf(field).reference === Reference.VALIDATION_RULES);
  if (rules === undefined) return undefined;
  const reserved = desc.fields.find((field) => ruleOf(field).reserves !== "");
  const type = reserved === undefined ? "" : ruleOf(reserved).reserves;
  const prefix = PREFIXES[type];
  if (reserved === undefined || prefix === undefined) {
    throw new Error(
      `${desc.typeName} has validation_rules but no field that reserves the id of the new object`,
    );
  }
  return { rules: rules.localName, reservedId: reserved.localName, type, prefix };
}
