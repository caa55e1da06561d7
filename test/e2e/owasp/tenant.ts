import { type Binding, bindingsOf } from "@scrip/contract";
import { expect } from "vitest";

import { publicServices } from "../../../gateway/src/public-services.ts";
import {
  type Api,
  createApi,
  inParallel,
  type Json,
  managementApi,
  newCode,
  type StackAccess,
} from "../../stack/api.ts";
import { waitFor } from "../../stack/retry.ts";
import { ok } from "../../stack/rule-builders.ts";
import { type WritingRequest, writingRequests } from "../../stack/writing-requests.ts";
import { isObject } from "./fields.ts";

type Headers = Readonly<Record<string, string>>;

/** A project with objects of every type, and a valid request for each writing RPC. */
export type Tenant = {
  readonly projectId: string;
  readonly api: Api;
  readonly headers: Readonly<Record<"server" | "client" | "management", Headers>>;
  readonly rows: readonly WritingRequest[];
  /** The fields of a path, which belong together if the project has such objects. */
  readonly pathValues: (route: Binding) => ReadonlyMap<string, string>;
  /** Ids of its objects by what they identify: `customer`, `campaign name`. */
  readonly ids: ReadonlyMap<string, string>;
  /** Reads of its own objects that failed. */
  readonly unread: readonly string[];
};

export const routes = bindingsOf(publicServices).filter(
  ({ side }) => side !== "key_only" && side !== "anyone",
);

/** The route of a request. */
export function routeOf({ rpc, method, path }: WritingRequest): Binding {
  const found = routes.find(
    (route) =>
      rpcOf(route) === rpc.split(" ")[0] &&
      route.httpMethod === method &&
      valuesIn(route, path) !== undefined,
  );
  if (found === undefined) throw new Error(`no route of ${rpc}`);
  return found;
}

export const rpcOf = ({ method }: Binding): string => `${method.parent.name}.${method.name}`;

const CLIENT_FEATURES = {
  client_redeem_enabled: true,
  client_publish_enabled: true,
  client_list_vouchers_enabled: true,
  client_create_customer_enabled: true,
  client_loyalty_events_enabled: true,
};

export async function createTenant(stack: StackAccess): Promise<Tenant> {
  const rows = await writingRequests(stack);
  const row = (rpc: string): WritingRequest => {
    const found = rows.find((each) => each.rpc === rpc);
    if (found === undefined) throw new Error(`there is no request of ${rpc}`);
    return found;
  };
  const { path: projectPath, headers: management } = row("ProjectService.UpdateProject");
  const projectId = projectPath.split("/").at(-1) ?? "";
  const headers = {
    management,
    server: row("VoucherService.CreateVoucher").headers,
    client: row("ValidationService.RedeemCode").headers,
  };
  const api = createApi(stack.url, headers.server);
  await ok(managementApi(stack).put(projectPath, CLIENT_FEATURES));
  const known = pathsOf(rows);
  const more = await createMore(api, { known, management: createApi(stack.url, management) });
  const pathValues = (route: Binding): ReadonlyMap<string, string> =>
    pathValuesOf(route, { known, more, projectId });
  const { ids, unread } = await collectIds(stack, { headers, pathValues });
  ids.set("ssn", more.get("session_key") ?? "none");
  return { projectId, api, headers, rows, pathValues, ids, unread };
}

/** From one request that names them all, so that they belong together, if there is one. */
function pathValuesOf(
  route: Binding,
  {
    known,
    more,
    projectId,
  }: {
    readonly known: readonly KnownPath[];
    readonly more: ReadonlyMap<string, string>;
    readonly projectId: string;
  },
): ReadonlyMap<string, string> {
  const names = fieldNames(route);
  const resource = resourceOf(route);
  const last = route.segments.findLast(({ kind }) => kind === "literal");
  const ending = last?.kind === "literal" ? last.text : "";
  const own = known.filter((each) => each.resource === resource);
  const complete = [...own, ...known].find(({ values }) => names.every((name) => values.has(name)));
  const sources = [...(complete ? [complete] : []), ...own, ...known];
  return new Map(
    names.map((name) => [
      name,
      name === "project_id"
        ? projectId
        : (more.get(`${ending} ${name}`) ??
          more.get(`${resource} ${name}`) ??
          more.get(name) ??
          sources.find(({ values }) => values.has(name))?.values.get(name) ??
          "none"),
    ]),
  );
}

const fieldNames = ({ segments }: Binding): string[] =>
  segments.flatMap((each) => (each.kind === "field" ? [each.field.name] : []));

/** `vouchers` in `/v1/vouchers/{code}`. */
const resourceOf = ({ path, side }: Binding): string =>
  path.split("/")[side === "management" ? 5 : side === "client" ? 3 : 2] ?? "projects";

type KnownPath = { readonly resource: string; readonly values: ReadonlyMap<string, string> };

/** What the paths of the requests name. */
const pathsOf = (rows: readonly WritingRequest[]): readonly KnownPath[] =>
  rows.flatMap(({ path, rpc }) =>
    routes
      .filter((route) => rpcOf(route) === rpc.split(" ")[0])
      .flatMap((route) => {
        const values = valuesIn(route, path);
        return values === undefined || values.size === 0
          ? []
          : [{ resource: resourceOf(route), values }];
      }),
  );

/** The values of the fields in a path; undefined when it is not of this route. */
export function valuesIn({ segments }: Binding, path: string): Map<string, string> | undefined {
  const parts = new URL(path, "http://scrip").pathname.slice(1).split("/");
  if (parts.length !== segments.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, segment] of segments.entries()) {
    const part = decodeURIComponent(parts[index] ?? "");
    if (segment.kind === "literal" && segment.text !== part) return undefined;
    if (segment.kind === "field") values.set(segment.field.name, part);
  }
  return values;
}

const RESOURCE_WITH_SCHEMA = "earning_rule";

/** Objects that no path of the requests names, by the field of the paths that name them. */
async function createMore(
  api: Api,
  { known, management }: { readonly known: readonly KnownPath[]; readonly management: Api },
): Promise<ReadonlyMap<string, string>> {
  const post = async (path: string, body: unknown): Promise<Json> => {
    const response = await api.post(path, body);
    expect([200, 202], response.text).toContain(response.status);
    return response.body;
  };
  const valueOf = (name: string, resource?: string): string =>
    known
      .find(
        (each) => each.values.has(name) && (resource === undefined || each.resource === resource),
      )
      ?.values.get(name) ?? "none";
  const { id: binned } = await post("/v1/products", { name: "binned" });
  await api.delete(`/v1/products/${binned}`);
  const { code } = await post("/v1/vouchers", { type: "GIFT_VOUCHER", gift: { amount: 100 } });
  const lock = { order: { amount: 100 }, session: { type: "LOCK" } };
  const locked = await post(`/v1/vouchers/${code}/validate`, lock);
  const member = valueOf("member_id", "referrals");
  const holders = `/v1/referrals/members/${member}/holders`;
  await api.post(holders, { holders: [{ source_id: newCode("referee") }] });
  const rules = `/v1/validation-rules/${valueOf("validation_rule_id")}/assignments`;
  const project = `/management/v1/projects/${valueOf("project_id")}`;
  const { async_action_id: action } = await post("/v1/customers/bulk/async", [
    { source_id: newCode("customer") },
  ]);
  const created = {
    segment_id: await post("/v1/segments", {
      name: newCode("segment"),
      type: "static",
      customers: [],
    }),
    product_collection_id: await post("/v1/product-collections", {
      name: newCode("collection"),
      type: "STATIC",
      products: [],
    }),
    export_id: await post("/v1/exports", { exported_object: "voucher" }),
    "validation-rules assignment_id": await post(rules, { voucher: code }),
    stacking_rules_id: await ok(management.post(`${project}/stacking-rules`, {})),
    "metadata-schemas schema_id": await ok(
      management.post(`${project}/metadata-schemas`, {
        related_object: RESOURCE_WITH_SCHEMA,
        properties: { size: { type: "string", optional: true } },
      }),
    ),
    holder_id: (await ok(api.get(holders)))["data"][0],
    // Entries of the bin follow within about a second.
    bin_entry_id: await waitFor(
      async () =>
        (await ok(api.get("/v1/trash-bin")))["data"][0] ?? Promise.reject(new Error("empty")),
      { timeout: 40_000, interval: 200 },
    ),
  };
  return new Map([
    ...Object.entries(created).map(([name, { id }]: [string, Json]) => [name, id] as const),
    ["async_action_id", action],
    ["resource", RESOURCE_WITH_SCHEMA],
    ["holders member_id", member],
    ["holders campaign_id", (await ok(api.get(`/v1/vouchers/${member}`)))["campaign_id"]],
    ["session_key", locked["session"].key],
    ["sessions code", code],
  ]);
}

/** The first id of each type in what the project reads, and codes, names and source ids. */
async function collectIds(
  stack: StackAccess,
  { headers, pathValues }: Pick<Tenant, "headers" | "pathValues">,
): Promise<{ readonly ids: Map<string, string>; readonly unread: readonly string[] }> {
  const ids = new Map<string, string>();
  const unread: string[] = [];
  const reads = routes.filter(({ httpMethod, side }) => httpMethod === "GET" && side !== "client");
  // In this order, so that twins have twin ids.
  await inParallel(reads, 1, async (route) => {
    const path = pathOf(route, pathValues(route));
    const { status, body } = await createApi(stack.url, headersOf(headers, route)).get(path);
    if (status !== 200) unread.push(route.path);
    else collect(body, ids);
  });
  return { ids, unread };
}

const OWN_ID = /^([a-z]+)_[0-9a-f]{18}$/;

/** `cust` is an id of Scrip, `customer source_id` one of the project. */
function collect(value: unknown, ids: Map<string, string>): void {
  if (Array.isArray(value)) for (const each of value) collect(each, ids);
  if (!isObject(value)) return;
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== "string") collect(each, ids);
    const prefix = typeof each === "string" ? OWN_ID.exec(each)?.[1] : undefined;
    const kind = ["code", "name", "source_id", "sku"].includes(name)
      ? `${String(value["object"])} ${name}`
      : prefix;
    if (typeof each === "string" && kind !== undefined && !ids.has(kind)) ids.set(kind, each);
  }
}

/** The path of a route with these fields. */
export const pathOf = ({ segments }: Binding, values: ReadonlyMap<string, string>): string =>
  segments
    .map((each) =>
      each.kind === "literal"
        ? `/${each.text}`
        : `/${encodeURIComponent(values.get(each.field.name) ?? "none")}`,
    )
    .join("");

export const headersOf = (
  headers: Tenant["headers"],
  { side }: Binding,
): Record<string, string> => ({
  ...headers[side === "client" || side === "management" ? side : "server"],
});
