import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import {
  access,
  type Access,
  audit,
  type Audit,
  errors,
  rejections,
  rule,
  type Rule,
  shape,
  type Shape,
} from "@scrip/proto/scrip/options/v1/options_pb";

/** `read`, once for each descriptor: reading an option decodes it and creates descriptors of the extension. */
function once<Desc extends WeakKey, Value>(read: (desc: Desc) => Value): (desc: Desc) => Value {
  const known = new WeakMap<Desc, Value>();
  return (desc) => {
    let value = known.get(desc);
    if (value === undefined) known.set(desc, (value = read(desc)));
    return value;
  };
}

/** The access option of an RPC; undefined when it has none. */
export function accessOf(method: DescMethod): Access | undefined {
  return hasOption(method, access) ? getOption(method, access) : undefined;
}

/** Keys of the errors that an RPC returns, beyond those that every RPC can return. */
export function errorKeysOf(method: DescMethod): readonly string[] {
  return getOption(method, errors);
}

/** Keys of errors inside a successful response of an RPC. */
export function rejectionKeysOf(method: DescMethod): readonly string[] {
  return getOption(method, rejections);
}

export function auditOptionOf(method: DescMethod): Audit {
  return getOption(method, audit);
}

/** The checks and references of a field. Do not modify it. */
export const ruleOf = once((field: DescField): Rule => getOption(field, rule));

export const shapeOf = once((message: DescMessage): Shape => getOption(message, shape));

/** The name of a field in JSON documents and query strings. */
export function jsonNameOf(field: DescField): string {
  const { json } = ruleOf(field);
  return json === "" ? field.name : json;
}

export type EnumNames = {
  /** Names as JSON writes them, without the prefix, by number. */
  readonly byNumber: ReadonlyMap<number, string>;
  readonly byName: ReadonlyMap<string, number>;
  /** As `details` list them: `DISCOUNT_VOUCHER, GIFT_VOUCHER`. */
  readonly list: string;
};

/** The values of an enum without the unspecified one, which JSON expresses as an absent field. */
export function enumNamesOf(desc: DescEnum): EnumNames {
  const prefix = desc.sharedPrefix?.length ?? 0;
  const values = desc.values
    .filter(({ number }) => number !== 0)
    .map(({ name, number }) => ({ name: name.slice(prefix), number }));
  return {
    byNumber: new Map(values.map(({ name, number }) => [number, name])),
    byName: new Map(values.map(({ name, number }) => [name, number])),
    list: values.map(({ name }) => name).join(", "),
  };
}
