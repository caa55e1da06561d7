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
  errors,
  rejections,
  rule,
  type Rule,
  shape,
  type Shape,
} from "@scrip/proto/scrip/options/v1/options_pb";

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

export function ruleOf(field: DescField): Rule {
  return getOption(field, rule);
}

export function shapeOf(message: DescMessage): Shape {
  return getOption(message, shape);
}

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
