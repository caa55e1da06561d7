import type { DescField } from "@bufbuild/protobuf";
import type { Binding } from "@scrip/contract";

import { type Json, newCode } from "../../stack/api.ts";
import {
  bodyFields,
  fieldsIn,
  isObject,
  isString,
  type Place,
  valueAt,
  withValue,
} from "./fields.ts";
import { headersOf, pathOf, routes, rpcOf, type Tenant, valuesIn } from "./tenant.ts";

/** A request of one project with a place for an id. */
export type Probe = {
  readonly name: string;
  readonly rpc: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What it identifies, as far as the field says. */
  readonly kind: string;
  /** The id of another project that is put there. */
  readonly id: string;
  readonly pathOf: (id: string) => string;
  readonly bodyOf: ((id: string) => unknown) | undefined;
};

/** Fields of these names hold ids, codes or names of objects. */
const REFERENCE =
  /^(id|ids|\w+_ids?|codes?|vouchers?|campaigns?|customers?|\w*categor(y|ies)|rule|reward|validation_rules|promotion_tier|unit_type|starting_after|session_key|key)$/;
const NAMED_OBJECTS: Readonly<Record<string, string>> = { PublicationCampaign: "name" };

/** Which ids may be meant, by the names of the message and the field. */
const KINDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/session/i, ["ssn"]],
  [/customer|referrer|holder|referee/i, ["cust", "customer source_id"]],
  [/segment/i, ["seg"]],
  [/categor/i, ["cat", "category name"]],
  [/campaign/i, ["camp", "campaign name"]],
  [/rule/i, ["val"]],
  [/collection/i, ["pc", "prod", "sku"]],
  [/unit_type/, ["prod", "product source_id", "sku"]],
  [/product/i, ["prod", "product source_id"]],
  [/sku/i, ["sku", "sku source_id"]],
  [/assignment/i, ["rewa"]],
  [/reward/i, ["rew"]],
  [/promotion_tier/, ["promo"]],
  [/StackTiers/, ["promo"]],
  [/earning/i, ["evcus", "prod", "sku", "pc"]],
  [/order/i, ["ord", "order source_id"]],
  [/voucher|code|card|member/i, ["voucher code", "v"]],
];
const ANY_OBJECT = [
  "voucher code",
  "v",
  "camp",
  "promo",
  "stack",
  "prod",
  "sku",
  "pc",
  "rewa",
  "r",
];

/** Names of types in fields beside an id. */
const OBJECT_NAMES: Readonly<Record<string, string>> = {
  "voucher code": "voucher",
  v: "voucher",
  camp: "campaign",
  promo: "promotion_tier",
  stack: "promotion_stack",
  prod: "product",
  "product source_id": "product",
  sku: "sku",
  pc: "products_collection",
  rewa: "reward_assignment",
};

/** What else a message with a reference needs. */
const SIBLINGS: Readonly<Record<string, Json>> = {
  OrderItemInput: { quantity: 1, amount: 500 },
  ItemProduct: { name: "x" },
  Discount: { type: "UNIT", effect: "ADD_NEW_ITEMS", unit_off: 1 },
  PublicationCampaign: { count: 1 },
  NewPromotionTier: { name: "tier", action: { discount: { type: "PERCENT", percent_off: 1 } } },
  NewEarningRule: { event: "order.paid", loyalty: { type: "FIXED", points: 1 } },
};

function kindsOf({ name, parent }: DescField): readonly string[] {
  if (name === "related_object_id" || parent.name === "RedeemableRef") return ANY_OBJECT;
  const own = KINDS.filter(([pattern]) => pattern.test(name));
  const matching = own.length > 0 ? own : KINDS.filter(([pattern]) => pattern.test(parent.name));
  const kinds = [...new Set(matching.flatMap(([, each]) => each))];
  const isSourceId = /source_ids?$/.test(name);
  const exact = kinds.filter((kind) => kind.endsWith("source_id") === isSourceId);
  if (/_id$|^ids?$/.test(name) && exact.length > 0) return exact;
  return kinds;
}

export const isReference = (field: DescField): boolean =>
  isString(field) &&
  (REFERENCE.test(field.name) || NAMED_OBJECTS[field.parent.name] === field.name) &&
  // A name for several requests, not an object.
  field.name !== "tracking_id";

/** Each id of the owner in the path of each route. The project in a management path is that of the intruder. */
export const pathProbes = (owner: Tenant, intruder: Tenant): readonly Probe[] =>
  routes.flatMap((route) => {
    const values = new Map(owner.pathValues(route)).set("project_id", intruder.projectId);
    const names = [...values.keys()].filter(
      (name) => name !== "project_id" && route.path.includes(`{${name}}`),
    );
    // The type of an object with a metadata schema is no id.
    return names
      .filter((name) => name !== "resource")
      .map((name): Probe => {
        const row = rowOf(owner, route);
        return {
          name: `${route.httpMethod} ${route.path} ${name}`,
          rpc: rpcOf(route),
          method: route.httpMethod,
          headers: headersOf(intruder.headers, route),
          kind: name === "code" ? "voucher code" : name,
          id: values.get(name) ?? "none",
          pathOf: (id) => pathOf(route, new Map(values).set(name, id)),
          bodyOf: route.body === "none" ? undefined : () => row?.body ?? {},
        };
      });
  });

/** The intruder's own request of a route. */
const rowOf = (tenant: Tenant, route: Binding) =>
  tenant.rows.find(
    ({ rpc, method, path }) =>
      rpc.split(" ")[0] === rpcOf(route) &&
      (method === route.httpMethod || route.side === "client") &&
      (route.side === "client" || valuesIn(route, path) !== undefined),
  );

/** Ids of the owner in each field of the intruder's bodies and queries that may hold one. */
export const fieldProbes = (owner: Tenant, intruder: Tenant): readonly Probe[] =>
  routes.flatMap((route) => {
    const row = rowOf(intruder, route);
    const hasBody = route.body !== "none";
    if (hasBody && row === undefined) return [];
    const path =
      hasBody && route.side !== "client"
        ? (row?.path ?? "")
        : pathOf(route, new Map(intruder.pathValues(route)));
    const fields = hasBody ? bodyFields(route) : queryFields(route);
    return (
      fields
        .filter(({ field }) => isReference(field))
        // The server-side route of the RPC has them too.
        .filter(({ place }) => route.side !== "client" || place[0] !== "order")
        .flatMap(({ place, field }) =>
          kindsOf(field).flatMap((kind) => {
            const id = owner.ids.get(kind);
            if (id === undefined) return [];
            const sent = (text: string): unknown =>
              requestWith(row?.body, { place, field, kind, text });
            return [
              {
                name: `${route.httpMethod} ${route.path} ${place.join(".")}: ${kind}`,
                rpc: rpcOf(route),
                method: route.httpMethod,
                headers: headersOf(intruder.headers, route),
                kind,
                id,
                pathOf: (text: string) =>
                  hasBody
                    ? path
                    : `${path}?${queryOf(requestWith({}, { place, field, kind, text }))}`,
                bodyOf: hasBody ? sent : undefined,
              },
            ];
          }),
        )
    );
  });

const queryFields = (route: Binding) => {
  const inPath = new Set(
    route.segments.flatMap((each) => (each.kind === "field" ? [each.field] : [])),
  );
  return fieldsIn(route.method.input).filter(({ field }) => !inPath.has(field));
};

function requestWith(
  body: unknown,
  {
    place,
    field,
    kind,
    text,
  }: {
    readonly place: Place;
    readonly field: DescField;
    readonly kind: string;
    readonly text: string;
  },
): unknown {
  const around = place.slice(0, typeof place.at(-1) === "number" ? -2 : -1);
  const fresh = withNewName(body);
  const existing = valueAt(fresh, around);
  const object = field.parent.fields.some(({ name }) => name === "object")
    ? { object: OBJECT_NAMES[kind] ?? "product" }
    : {};
  const type =
    field.name === "related_object_id" ? { related_object_type: OBJECT_NAMES[kind] } : {};
  const siblings = {
    ...SIBLINGS[field.parent.name],
    ...(existing as Json | undefined),
    ...object,
    ...type,
  };
  return withValue(withValue(fresh, around, siblings), place, text);
}

/** Names of some objects are unique, and codes. */
function withNewName(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(withNewName);
  if (!isObject(body)) return body;
  const unique = ["name", "code"].filter((field) => typeof body[field] === "string");
  return { ...body, ...Object.fromEntries(unique.map((field) => [field, newCode(field)])) };
}

/** `order[items][0][price]`, as query strings nest objects and lists. */
function queryOf(value: unknown, prefix = ""): string {
  if (typeof value !== "object" || value === null)
    return `${encodeURIComponent(prefix)}=${encodeURIComponent(String(value))}`;
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => queryOf(each, prefix === "" ? name : `${prefix}[${name}]`))
    .join("&");
}
