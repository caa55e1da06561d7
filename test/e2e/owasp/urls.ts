import type { Binding } from "@scrip/contract";

import { bodyFields, type FieldAt, isString, valueAt, withValue } from "./fields.ts";
import { isReference } from "./probes.ts";

/** Fields with a text of the caller's choice: metadata, and strings that name no object and that the request lacks. */
export const fieldsForUrls = (route: Binding, body: unknown): readonly FieldAt[] =>
  bodyFields(route).filter(({ field, place }) => {
    if (place.at(-1) === "metadata") return true;
    if (!isString(field) || field.fieldKind !== "scalar" || isReference(field)) return false;
    return FREE_TEXT.test(field.name) || valueAt(body, place) === undefined;
  });

/** Values of other fields, such as types, cannot be replaced. */
const FREE_TEXT = /^(name|description|banner|sku)$/;

/** The request with the URL in these fields. */
export function withUrls(body: unknown, fields: readonly FieldAt[], url: string): unknown {
  return fields.reduce((changed, { place, field }) => {
    const value = field.name === "metadata" ? { image: url, nested: { url } } : url;
    return withValue(changed, place, value);
  }, body);
}
