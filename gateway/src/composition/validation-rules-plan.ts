import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import type { NewId } from "@scrip/ids";
import { Reference, rule } from "@scrip/proto/scrip/options/v1/options_pb";

/** Where in a request objects are made that may come with validation rules; others have no plan. */
export type RulesPlan = {
  readonly own: NewObject | undefined;
  readonly children: readonly Child[];
};

/** An object to be made; fields by their local names. */
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

function planOf(desc: DescMessage, above: ReadonlySet<DescMessage>): RulesPlan | undefined {
  // What contains itself is not followed any deeper: the contract has no such requests.
  if (above.has(desc)) return undefined;
  const within = new Set([...above, desc]);
  const children = desc.fields.flatMap((field) => childOf(field, within) ?? []);
  const own = newObject(desc);
  return own === undefined && children.length === 0 ? undefined : { own, children };
}

function childOf(field: DescField, above: ReadonlySet<DescMessage>): Child | undefined {
  const plan = field.message && planOf(field.message, above);
  if (plan === undefined) return undefined;
  if (field.oneof !== undefined || field.fieldKind === "map") {
    throw new Error(`validation rules in a oneof or a map: ${field.toString()}`);
  }
  return { field: field.localName, many: field.fieldKind === "list", plan };
}

function newObject(desc: DescMessage): NewObject | undefined {
  const rules = desc.fields.find(
    (field) => getOption(field, rule).reference === Reference.VALIDATION_RULES,
  );
  if (rules === undefined) return undefined;
  const reserved = desc.fields.find((field) => getOption(field, rule).reserves !== "");
  const type = reserved === undefined ? "" : getOption(reserved, rule).reserves;
  const prefix = PREFIXES[type];
  if (reserved === undefined || prefix === undefined) {
    throw new Error(`${desc.typeName} has validation rules but does not say what it makes`);
  }
  return { rules: rules.localName, reservedId: reserved.localName, type, prefix };
}
