import type { DescMessage } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import { invalidPayload } from "@scrip/errors";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";
import type { ResolvedUnit } from "@scrip/proto/scrip/validation/v1/products_pb";

import type { CompileStep, Fields } from "./step.ts";

/**
 * The services that store discounts and rewards must not call validation, which owns the catalogue. Discounts keep source
 * ids, which the order calculation understands.
 */
export const identifyProductsStep: CompileStep = ({ rpc }, { units }) => {
  const plan = planOf(rpc.input, new Map());
  if (plan === undefined || units === undefined) return undefined;
  return (next) => async (message, call) => {
    const references = referencesIn(plan, message, "");
    if (references.length > 0) {
      const names = [...new Set(references.map(({ name }) => name))];
      const found = await units.find(call.project.id, names);
      for (const reference of references) resolve(reference, found.get(reference.name));
    }
    return next(message, call);
  };
};

/** Replaces the name with the id of the product or SKU. */
function resolve(
  { path, name, kind, fields, field, product }: ProductReference,
  unit: ResolvedUnit | undefined,
): void {
  if (!fits(unit, kind)) throw invalidPayload(`${path}: no ${LABELS[kind]} '${name}'`);
  if (kind === Reference.UNIT_TYPE) return;
  // The product comes before its SKU, and has its id here.
  if (kind === Reference.SKU && product !== undefined && fields[product] !== unit?.product?.id) {
    throw invalidPayload(`${path}: the sku '${name}' belongs to another product`);
  }
  fields[field] = (kind === Reference.SKU ? unit?.sku : unit?.product)?.id ?? name;
}

const LABELS = {
  [Reference.UNIT_TYPE]: "product or sku",
  [Reference.PRODUCT]: "product",
  [Reference.SKU]: "sku",
} as const;

type Kind = keyof typeof LABELS;

const isKind = (reference: Reference): reference is Kind => reference in LABELS;

function fits(unit: ResolvedUnit | undefined, kind: Kind): boolean {
  if (unit === undefined) return false;
  return kind === Reference.UNIT_TYPE || (kind === Reference.SKU) === (unit.sku !== undefined);
}

/** Where a request names products; messages that name none have no plan. */
type Plan = {
  readonly own: readonly { readonly field: Field; readonly kind: Kind }[];
  readonly children: readonly {
    readonly field: Field;
    readonly many: boolean;
    readonly plan: Plan;
  }[];
};

type Field = { readonly name: string; readonly localName: string };

function planOf(desc: DescMessage, known: Map<DescMessage, Plan | undefined>): Plan | undefined {
  if (known.has(desc)) return known.get(desc);
  // Recursive messages are visited once: no public request names a product below its own type.
  known.set(desc, undefined);
  const own: Plan["own"][number][] = [];
  const children: Plan["children"][number][] = [];
  for (const field of desc.fields) {
    const { reference } = ruleOf(field);
    if (isKind(reference)) own.push({ field, kind: reference });
    if (field.message === undefined || field.fieldKind === "map") continue;
    const plan = planOf(field.message, known);
    if (plan !== undefined) children.push({ field, many: field.fieldKind === "list", plan });
  }
  const plan = own.length + children.length === 0 ? undefined : { own, children };
  known.set(desc, plan);
  return plan;
}

type ProductReference = {
  readonly path: string;
  readonly name: string;
  readonly kind: Kind;
  readonly fields: Fields;
  readonly field: string;
  /** Field of the product, where a SKU is one of it. */
  readonly product: string | undefined;
};

function referencesIn(plan: Plan, fields: Fields, path: string): readonly ProductReference[] {
  const product = plan.own.find(({ kind }) => kind === Reference.PRODUCT)?.field.localName;
  const own = plan.own.flatMap(({ field, kind }): ProductReference[] => {
    const name = fields[field.localName];
    if (typeof name !== "string" || name === "") return [];
    return [{ path: path + field.name, name, kind, fields, field: field.localName, product }];
  });
  const below = plan.children.flatMap(({ field, many, plan: child }) => {
    const value = fields[field.localName];
    if (value === undefined) return [];
    return many
      ? (value as readonly Fields[]).flatMap((item, index) =>
          referencesIn(child, item, `${path}${field.name}.${index}.`),
        )
      : referencesIn(child, value as Fields, `${path}${field.name}.`);
  });
  return [...own, ...below];
}
