import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import type { Metadata } from "@scrip/proto/scrip/options/v1/options_pb";

/** Where a request holds metadata; messages without metadata have no plan. */
export type MetadataPlan = {
  readonly own: OwnMetadata | undefined;
  readonly children: readonly Child[];
};

/** The metadata field of one message. Fields have their local names. */
export type OwnMetadata = {
  readonly field: string;
  readonly resource: string;
  readonly isComplete: boolean;
  /** When one of these fields is set, the object exists already and only the keys that were sent are checked. */
  readonly unless: readonly string[];
  readonly instead: AlternativeSchema | undefined;
};

/**
 * The schema that applies instead if `field` is true; without a field, if the stored campaign has
 * `use_voucher_metadata_schema`.
 */
export type AlternativeSchema = { readonly resource: string; readonly field: string | undefined };

export type Child = { readonly field: string; readonly many: boolean; readonly plan: MetadataPlan };

export function planMetadata(desc: DescMessage): MetadataPlan | undefined {
  return planOf(desc, new Map());
}

function planOf(
  desc: DescMessage,
  known: Map<DescMessage, MetadataPlan | undefined>,
): MetadataPlan | undefined {
  if (known.has(desc)) return known.get(desc);
  // Recursive messages are visited once: no public request holds metadata below its own type.
  known.set(desc, undefined);
  const children = desc.fields.flatMap((field) => childOf(field, known) ?? []);
  const own = ownOf(desc);
  const plan = own === undefined && children.length === 0 ? undefined : { own, children };
  known.set(desc, plan);
  return plan;
}

function childOf(
  field: DescField,
  known: Map<DescMessage, MetadataPlan | undefined>,
): Child | undefined {
  const { message, localName } = field;
  if (message === undefined) return undefined;
  const plan = planOf(message, known);
  if (plan === undefined) return undefined;
  if (field.oneof !== undefined || field.fieldKind === "map") {
    throw new Error(`metadata in a oneof or a map: ${field.toString()}`);
  }
  return { field: localName, many: field.fieldKind === "list", plan };
}

function ownOf(desc: DescMessage): OwnMetadata | undefined {
  const found = desc.fields.flatMap((field) => {
    const option = ruleOf(field).metadata;
    return option === undefined ? [] : [{ field, option }];
  });
  if (found.length > 1) throw new Error(`${desc.typeName} has the metadata of two resources`);
  const [first] = found;
  return first && toOwn(desc, first.field, first.option);
}

function toOwn(desc: DescMessage, field: DescField, option: Metadata): OwnMetadata {
  const { resource, complete, unless, instead, insteadIf } = option;
  if (resource === "" || field.message?.typeName !== "google.protobuf.Struct") {
    throw new Error(`${field.toString()} is not the metadata of a resource`);
  }
  const localNameOf = (name: string): string => {
    const other = desc.fields.find((each) => each.name === name);
    if (other === undefined) throw new Error(`${desc.typeName} has no ${name}`);
    return other.localName;
  };
  return {
    field: field.localName,
    resource,
    isComplete: complete,
    unless: unless.map(localNameOf),
    instead:
      instead === ""
        ? undefined
        : {
            resource: instead,
            field: insteadIf === "" ? undefined : localNameOf(insteadIf),
          },
  };
}
