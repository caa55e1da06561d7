import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type Binding, jsonNameOf, ruleOf } from "@scrip/contract";

import type { Json } from "../../stack/api.ts";
import { isObject, ownMessage } from "./fields.ts";

/** Values that no valid request has. */
export type Marks = { readonly text: string; readonly number: number; readonly time: string };

/** Fields that callers try, wherever they are in a contract. */
const USUAL = [
  "id",
  "object",
  "project_id",
  "tenant_id",
  "created_at",
  "updated_at",
  "holder_id",
  "redeemed_quantity",
  "redeemed_amount",
  "balance",
];

/** A field that the request does not have: its name with dots, and a value of its type. */
export type Extra = { readonly name: string; readonly value: unknown };

/** Every field of the response that the request lacks, also inside the objects that both have. */
export function extrasOf(
  { method, body, segments }: Binding,
  sent: unknown,
  marks: Marks,
): Extra[] {
  const field = body === "none" || body === "all" ? undefined : body;
  const input = (field && ownMessage(field)) ?? method.input;
  const item = method.output.fields[0];
  const isList = Array.isArray(sent) && item?.fieldKind === "list";
  const output = (isList ? ownMessage(item) : undefined) ?? method.output;
  const own = Array.isArray(sent) ? sent[0] : sent;
  const known = new Set(input.fields.map(jsonNameOf));
  const inPath = segments.flatMap((each) => (each.kind === "field" ? [each.field.name] : []));
  const usual = [...USUAL, ...inPath].filter((name) => !known.has(name) || inPath.includes(name));
  const extras = [
    ...missing(input, output, { sent: own, marks }),
    ...usual.map((name) => ({ name, value: valueNamed(name, marks) })),
  ];
  return [...new Map(extras.map((each) => [each.name, each])).values()];
}

function missing(
  input: DescMessage,
  output: DescMessage,
  {
    sent,
    marks,
    prefix = "",
  }: { readonly sent: unknown; readonly marks: Marks; readonly prefix?: string },
): Extra[] {
  const accepted = new Map(input.fields.map((field) => [jsonNameOf(field), field]));
  return output.fields.flatMap((field): Extra[] => {
    const name = jsonNameOf(field);
    const same = accepted.get(name);
    if (same === undefined) {
      return [{ name: prefix + name, value: valueOf(field, marks) }];
    }
    const inner = isObject(sent) ? sent[name] : undefined;
    const [from, to] = [ownMessage(same), ownMessage(field)];
    if (from === undefined || to === undefined || !isObject(inner)) return [];
    return missing(from, to, { sent: inner, marks, prefix: `${prefix}${name}.` });
  });
}

const valueNamed = (name: string, { text, number, time }: Marks): unknown => {
  if (name.endsWith("_at")) return time;
  return /balance|quantity|amount/.test(name) ? number : text;
};

function valueOf(field: DescField, marks: Marks, depth = 0): unknown {
  const one = singleOf(field, marks, depth);
  return field.fieldKind === "list" ? [one] : one;
}

function singleOf(field: DescField, marks: Marks, depth: number): unknown {
  if (field.fieldKind === "map") return { [marks.text]: marks.text };
  if (field.message?.typeName === "google.protobuf.Timestamp") return marks.time;
  const inner = ownMessage(field);
  if (inner !== undefined) {
    const fields = depth > 1 ? [] : inner.fields.filter((each) => !ruleOf(each).internal);
    return Object.fromEntries(
      fields.map((each) => [jsonNameOf(each), valueOf(each, marks, depth + 1)]),
    );
  }
  if (field.message !== undefined) return { [marks.text]: marks.text };
  if (field.enum !== undefined) return marks.text;
  if (field.scalar === ScalarType.STRING) return marks.text;
  return field.scalar === ScalarType.BOOL ? true : marks.number;
}

/** The request with the fields, in its first item if it is a list. */
export function withExtras(sent: unknown, extras: readonly Extra[]): unknown {
  if (Array.isArray(sent)) return [withExtras(sent[0], extras), ...sent.slice(1)];
  return extras.reduce<Json>((body, { name, value }) => setAt(body, name.split("."), value), {
    ...(sent as Json),
  });
}

function setAt(body: Json, [first = "", ...rest]: readonly string[], value: unknown): Json {
  if (rest.length === 0) return { ...body, [first]: value };
  return { ...body, [first]: setAt((body[first] ?? {}) as Json, rest, value) };
}
