import { setTimeout as sleep } from "node:timers/promises";

import type { Client } from "pg";

import { type Api, type ApiResponse, type Json, newProject } from "../stack/api.ts";
import type { Stack } from "../stack/compositions.ts";

/** A job, and what must be true when it has ended. */
export type RunningCase = {
  readonly type: string;
  /** Of its async action. */
  readonly id: string;
  readonly items: number;
  /** Returns what differs from what was requested. */
  readonly check: (client: Client) => Promise<readonly string[]>;
};

type Project = {
  readonly id: string;
  readonly api: Api;
  readonly upload: (path: string, lines: readonly string[]) => Promise<ApiResponse>;
};

type Expected = {
  /** Items that succeed. */
  readonly done: number;
  /** Counts that the database must contain. `$1` is the project. */
  readonly counts: Readonly<Record<string, number>>;
};

export type JobCase = {
  readonly type: string;
  /** The most items that a request takes. */
  readonly most?: number;
  /** Creates what the job needs. */
  readonly prepare?: (project: Project, items: number) => Promise<void>;
  /** Returns the response of the request that starts the job. */
  readonly start: (project: Project, items: number) => Promise<ApiResponse>;
  readonly expected: (items: number) => Expected;
};

const CAMPAIGN = "Killed";
const DISCOUNT = { type: "PERCENT", percent_off: 10 };
/** One row of a hundred is invalid. */
const isBad = (row: number): boolean => row % 100 === 0;
const badOf = (items: number): number => Math.ceil(items / 100);
const rowsOf = (items: number, row: (number: number) => string): readonly string[] =>
  Array.from({ length: items }, (_, number) => row(number));
const numbers = (items: number): readonly number[] => Array.from({ length: items }, (_, n) => n);

const VOUCHERS = "select count(*) from voucher.voucher where project_id = $1";
const CODES = "select count(distinct code_key) from voucher.voucher where project_id = $1";
const CUSTOMERS = "select count(*) from loyalty.customer where project_id = $1";
const PRODUCTS = "select count(*) from validation.product where project_id = $1";
const SKUS = "select count(*) from validation.sku where project_id = $1";
const ORDERS = "select count(*) from validation.shop_order where project_id = $1";

const createCampaign = async ({ api }: Project, more: object = {}): Promise<void> => {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: DISCOUNT };
  await ok(api.post("/v1/campaigns", { name: CAMPAIGN, vouchers_count: 0, voucher, ...more }));
};

const generate = async (project: Project, items: number): Promise<void> => {
  await createCampaign(project);
  const path = `/v1/campaigns/${CAMPAIGN}/vouchers?vouchers_count=${items}`;
  await finished(project.api, await project.api.post(path, {}));
};

/** Vouchers for all rows but the bad ones, which are unknown then. */
const importGoodVouchers = async ({ api, upload }: Project, items: number): Promise<void> => {
  const rows = rowsOf(items, (row) => (isBad(row) ? "" : `K-${row},GIFT_VOUCHER,100`));
  const csv = ["Code,Voucher Type,Value", ...rows.filter((row) => row !== "")];
  await finished(api, await upload("/v1/vouchers/importCSV", csv));
};

const vouchersCsv = (items: number): readonly string[] => [
  "Code,Active,color",
  ...rowsOf(items, (row) => `K-${row},${isBad(row) ? "perhaps" : "true"},red`),
];

const partly = (items: number, ...queries: readonly string[]): Expected => ({
  done: items - badOf(items),
  counts: Object.fromEntries(queries.map((query) => [query, items - badOf(items)])),
});

const all = (items: number, ...queries: readonly string[]): Expected => ({
  done: items,
  counts: Object.fromEntries(queries.map((query) => [query, items])),
});

export const JOB_CASES: readonly JobCase[] = [
  {
    type: "CAMPAIGN.VOUCHERS_GENERATE",
    prepare: (project) => createCampaign(project),
    start: ({ api }, items) =>
      api.post(`/v1/campaigns/${CAMPAIGN}/vouchers?vouchers_count=${items}`, {}),
    expected: (items) => all(items, VOUCHERS, CODES),
  },
  {
    type: "CAMPAIGN.VOUCHERS_UPDATE",
    prepare: generate,
    start: ({ api }) =>
      api.put(`/v1/campaigns/${CAMPAIGN}`, { expiration_date: "2099-01-01T00:00:00Z" }),
    expected: (items) => all(items, `${VOUCHERS} and expiration_date = '2099-01-01T00:00:00Z'`),
  },
  {
    type: "CAMPAIGN.VOUCHERS_DELETE",
    prepare: generate,
    start: ({ api }) => api.delete(`/v1/campaigns/${CAMPAIGN}?force=true`),
    expected: (items) => ({ done: items, counts: { [VOUCHERS]: 0 } }),
  },
  {
    type: "CAMPAIGN.VOUCHERS_IMPORT",
    prepare: (project) => createCampaign(project),
    start: ({ api }, items) =>
      api.post(
        `/v1/campaigns/${CAMPAIGN}/import`,
        numbers(items).map((n) => ({ code: `K-${n}`, ...(isBad(n) && { gift: { amount: 1 } }) })),
      ),
    expected: (items) => partly(items, VOUCHERS),
  },
  {
    type: "CAMPAIGN.VOUCHERS_IMPORT_CSV",
    prepare: (project) => createCampaign(project),
    start: ({ upload }, items) => upload(`/v1/campaigns/${CAMPAIGN}/importCSV`, vouchersCsv(items)),
    expected: (items) => partly(items, VOUCHERS),
  },
  {
    type: "VOUCHERS.IMPORT",
    start: ({ api }, items) =>
      api.post(
        "/v1/vouchers/import",
        numbers(items).map((n) => ({
          code: `K-${n}`,
          type: "GIFT_VOUCHER",
          gift: { amount: 10 },
          ...(isBad(n) && { start_date: "2099-01-01", expiration_date: "2020-01-01" }),
        })),
      ),
    expected: (items) => partly(items, VOUCHERS),
  },
  {
    type: "VOUCHERS.IMPORT_CSV",
    start: ({ upload }, items) =>
      upload("/v1/vouchers/importCSV", [
        "Code,Voucher Type,Value",
        ...rowsOf(items, (row) => `K-${row},GIFT_VOUCHER,${isBad(row) ? "much" : "100"}`),
      ]),
    expected: (items) => partly(items, VOUCHERS),
  },
  {
    type: "CUSTOMERS.IMPORT_CSV",
    start: ({ upload }, items) =>
      upload("/v1/customers/importCSV", [
        "Source_id,Name",
        ...rowsOf(items, (row) => (isBad(row) ? `,Nobody` : `K-${row},Customer ${row}`)),
      ]),
    expected: (items) => partly(items, CUSTOMERS),
  },
  {
    type: "PRODUCTS.IMPORT_CSV",
    start: ({ upload }, items) =>
      upload("/v1/products/importCSV", [
        "name,price",
        ...rowsOf(items, (row) => `Product ${row},${isBad(row) ? "much" : "100"}`),
      ]),
    expected: (items) => partly(items, PRODUCTS),
  },
  {
    type: "SKUS.IMPORT_CSV",
    async prepare({ api }) {
      await ok(api.post("/v1/products", { source_id: "tea", name: "Tea" }));
    },
    start: ({ upload }, items) =>
      upload("/v1/skus/importCSV", [
        "source_id,product_id,price",
        ...rowsOf(items, (row) => `K-${row},${isBad(row) ? "coffee" : "tea"},100`),
      ]),
    expected: (items) => partly(items, SKUS),
  },
  {
    type: "ORDERS.IMPORT",
    most: 2_000,
    start: ({ api }, items) =>
      api.post(
        "/v1/orders/import",
        numbers(items).map((n) => ({ source_id: `K-${n}`, amount: 100, status: "PAID" })),
      ),
    expected: (items) => all(items, ORDERS),
  },
  {
    type: "VOUCHERS.BULK_UPDATE",
    prepare: importGoodVouchers,
    start: ({ api }, items) =>
      api.post(
        "/v1/vouchers/bulk/async",
        numbers(items).map((n) => ({ code: `K-${n}`, metadata: { number: n } })),
      ),
    expected: (items) => partly(items, `${VOUCHERS} and code = 'K-' || (metadata ->> 'number')`),
  },
  {
    type: "VOUCHERS.METADATA_UPDATE",
    prepare: importGoodVouchers,
    start: ({ api }, items) =>
      api.post("/v1/vouchers/metadata/async", {
        codes: numbers(items).map((n) => `K-${n}`),
        metadata: { season: "spring" },
      }),
    expected: (items) => partly(items, `${VOUCHERS} and metadata ->> 'season' = 'spring'`),
  },
  {
    type: "CUSTOMERS.BULK_UPDATE",
    start: ({ api }, items) =>
      api.post(
        "/v1/customers/bulk/async",
        numbers(items).map((n) => ({ source_id: `K-${n}`, name: `Customer ${n}` })),
      ),
    expected: (items) => all(items, `${CUSTOMERS} and name like 'Customer %'`),
  },
  {
    type: "PRODUCTS.METADATA_UPDATE",
    start: ({ api }, items) =>
      api.post("/v1/products/metadata/async", {
        source_ids: numbers(items).map((n) => `K-${n}`),
        metadata: { season: "spring" },
      }),
    expected: (items) => all(items, `${PRODUCTS} and metadata ->> 'season' = 'spring'`),
  },
  {
    type: "CUSTOMERS.METADATA_UPDATE",
    start: ({ api }, items) =>
      api.post("/v1/customers/metadata/async", {
        source_ids: numbers(items).map((n) => `K-${n}`),
        metadata: { season: "spring" },
      }),
    expected: (items) => all(items, `${CUSTOMERS} and metadata ->> 'season' = 'spring'`),
  },
  {
    type: "PRODUCTS.BULK_UPDATE",
    start: ({ api }, items) =>
      api.post(
        "/v1/products/bulk/async",
        numbers(items).map((n) => ({ source_id: `K-${n}`, name: `Product ${n}` })),
      ),
    expected: (items) => all(items, PRODUCTS),
  },
];

/** Creates a project with what the job needs; returns what starts the job. */
export async function prepareCase(
  stack: Stack,
  { type, most, prepare, start, expected }: JobCase,
  wanted: number,
): Promise<() => Promise<RunningCase>> {
  const items = Math.min(wanted, most ?? wanted);
  const created = await newProject(stack);
  const project: Project = { ...created, upload: uploadTo(stack, created.api) };
  await prepare?.(project, items);
  return async () => {
    const response = await start(project, items);
    if (response.status >= 300) throw new Error(`${type}: ${response.text}`);
    const id = response.body["async_action_id"] ?? (await actionOf(project.api, type));
    return {
      type,
      id,
      items,
      check: (client) =>
        faultsOf({ stack, project, client }, { id, items, expected: expected(items) }),
    };
  };
}

async function faultsOf(
  {
    stack,
    project,
    client,
  }: { readonly stack: Stack; readonly project: Project; readonly client: Client },
  {
    id,
    expected,
    items,
  }: { readonly id: string; readonly expected: Expected; readonly items: number },
): Promise<readonly string[]> {
  const action = await ok(project.api.get(`/v1/async-actions/${id}`));
  return [
    ...differences(action, expected, items),
    ...(await wrongCounts(client, project.id, expected.counts)),
    ...(await wrongReport(stack, action["result"], items)),
  ];
}

function differences(action: Json, { done }: Expected, items: number): readonly string[] {
  const { status, processed, failed, total, result } = action;
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ["status", status, "DONE"],
    ["processed", processed, done],
    ["failed", failed, items - done],
    ["total", total, items],
    ["done_count", result?.done_count, done],
    ["failures", result?.failed?.length ?? items - done, items - done],
  ];
  return facts.flatMap(([name, actual, wanted]) =>
    actual === wanted ? [] : [`${name} is ${String(actual)} instead of ${String(wanted)}`],
  );
}

async function wrongCounts(
  client: Client,
  projectId: string,
  counts: Expected["counts"],
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [query, wanted] of Object.entries(counts)) {
    const { rows } = await client.query<{ count: string }>(query, [projectId]);
    if (Number(rows[0]?.count) !== wanted) faults.push(`${rows[0]?.count} of ${wanted}: ${query}`);
  }
  return faults;
}

/** A report names each item once. */
async function wrongReport(stack: Stack, result: Json, items: number): Promise<readonly string[]> {
  const [link] = (result["reports"] ?? []) as readonly string[];
  if (link === undefined) return [];
  const { pathname, search } = new URL(link, stack.url);
  const text = await (await fetch(`${stack.url}${pathname}${search}`)).text();
  const [, ...rows] = text.trim().split("\n");
  const names = new Set(rows.map((row) => row.split(",")[0]));
  return rows.length === items && names.size === items
    ? []
    : [`the report has ${rows.length} rows of ${names.size} items`];
}

const uploadTo =
  ({ url }: Stack, api: Api): Project["upload"] =>
  async (path, lines) => {
    const form = new FormData();
    form.set("file", new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }), "import.csv");
    const response = await fetch(url + path, { method: "POST", headers: api.headers, body: form });
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, text, body: JSON.parse(text) as Json };
  };

/** An update of a campaign starts its action by an event. */
async function actionOf(api: Api, wanted: string): Promise<string> {
  for (;;) {
    const { async_actions: actions } = await ok(api.get("/v1/async-actions"));
    const found = (actions as readonly Json[]).find(({ type }) => type === wanted);
    if (found !== undefined) return found["id"];
    await sleep(100);
  }
}

async function finished(api: Api, { text, body }: ApiResponse): Promise<void> {
  const id = body["async_action_id"];
  if (id === undefined) throw new Error(text);
  while ((await ok(api.get(`/v1/async-actions/${id}`)))["status"] !== "DONE") await sleep(100);
}

async function ok(request: Promise<ApiResponse>): Promise<Json> {
  const { status, text, body } = await request;
  if (status >= 300) throw new Error(text);
  return body;
}
