import { toErrorResponse } from "@scrip/errors";
import { newId } from "@scrip/ids";
import {
  CampaignService,
  CampaignStatus,
  CampaignType,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  AsyncActionService,
  AsyncActionStatus,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { ImportService, type ImportStarted } from "@scrip/proto/scrip/export/v1/imports_pb";
import { asAdmin } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject } from "./export-reader.ts";

const platform = await startPlatform();
afterAll(() => platform[Symbol.asyncDispose]());
const asyncActions = platform.client(AsyncActionService);
const imports = platform.client(ImportService);
const exports = platform.client(ExportService);
const campaigns = platform.client(CampaignService);

const keyOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "not rejected",
    (error: unknown) => toErrorResponse(error, "").error.key,
  );

/** Stores a file as the gateway does. */
async function fileOf(call: ReturnType<typeof newCall>, csv: string): Promise<string> {
  const fileId = newId("imp");
  await imports.appendImportFile({ fileId, number: 0n, data: Buffer.from(csv) }, call);
  return fileId;
}

test("every request of items starts an action of its type, with their number", async () => {
  const call = newCall();
  const metadata = { a: 1 };
  const started: readonly (readonly [string, Promise<ImportStarted>])[] = [
    ["VOUCHERS.IMPORT", imports.importVouchers({ vouchers: [{ code: "A" }] }, call)],
    ["ORDERS.IMPORT", imports.importOrders({ orders: [{ sourceId: "a" }] }, call)],
    ["VOUCHERS.BULK_UPDATE", imports.bulkUpdateVouchers({ vouchers: [{ code: "A" }] }, call)],
    [
      "VOUCHERS.METADATA_UPDATE",
      imports.bulkUpdateVouchersMetadata({ codes: ["A"], metadata }, call),
    ],
    [
      "CUSTOMERS.BULK_UPDATE",
      imports.bulkUpdateCustomers({ customers: [{ sourceId: "a" }] }, call),
    ],
    [
      "CUSTOMERS.METADATA_UPDATE",
      imports.bulkUpdateCustomersMetadata({ sourceIds: ["a"], metadata }, call),
    ],
    ["PRODUCTS.BULK_UPDATE", imports.bulkUpdateProducts({ products: [{ sourceId: "a" }] }, call)],
    [
      "PRODUCTS.METADATA_UPDATE",
      imports.bulkUpdateProductsMetadata({ sourceIds: ["a"], metadata }, call),
    ],
  ];
  for (const [type, action] of started) {
    const { asyncActionId } = await action;
    expect(await asyncActions.getAsyncAction({ asyncActionId }, call)).toMatchObject({
      type,
      total: 1n,
    });
  }
});

test("every file starts an action of its type when it has the required columns", async () => {
  const call = newCall();
  const cases = [
    [
      "VOUCHERS.IMPORT_CSV",
      "Code",
      (fileId: string) => imports.importVouchersCsv({ fileId }, call),
    ],
    [
      "CUSTOMERS.IMPORT_CSV",
      "SOURCE ID,name",
      (fileId: string) => imports.importCustomersCsv({ fileId }, call),
    ],
    [
      "PRODUCTS.IMPORT_CSV",
      "name",
      (fileId: string) => imports.importProductsCsv({ fileId }, call),
    ],
    [
      "SKUS.IMPORT_CSV",
      "source_id,product_id",
      (fileId: string) => imports.importSkusCsv({ fileId }, call),
    ],
  ] as const;
  for (const [type, header, start] of cases) {
    const { asyncActionId } = await start(await fileOf(call, `${header}\na\nb\n`));
    expect(await asyncActions.getAsyncAction({ asyncActionId }, call)).toMatchObject({
      type,
      total: 2n,
    });
    expect(await keyOf(start(await fileOf(call, "other\na\n")))).toBe("invalid_payload");
    expect(await keyOf(start(""))).toBe("invalid_payload");
  }
});

test("rejects imports into unknown campaigns, and a file that another import has", async () => {
  const call = newCall();
  const fileId = await fileOf(call, "Code\na\n");
  const campaignId = "camp_000000000000000000";
  const vouchers = [{ code: "B" }];
  expect(await keyOf(imports.importCampaignVouchers({ campaignId, vouchers }, call))).toBe(
    "not_found",
  );
  expect(await keyOf(imports.importCampaignVouchersCsv({ campaignId, fileId }, call))).toBe(
    "not_found",
  );
  await imports.importVouchersCsv({ fileId }, call);
  expect(await keyOf(imports.importVouchersCsv({ fileId }, call))).toBe("invalid_payload");
});

test("a campaign shows that vouchers are added from the response until the import has ended or failed", async () => {
  const call = newCall();
  const { id: campaignId } = await campaigns.createCampaign(
    {
      name: "Imported",
      campaignType: CampaignType.DISCOUNT_COUPONS,
      vouchersCount: 0n,
      voucher: { discount: { type: DiscountType.PERCENT, percentOff: "10" } },
    },
    call,
  );
  const generation = async () =>
    (await campaigns.getCampaign({ campaignId }, call)).vouchersGenerationStatus;
  expect(await generation()).toBe(CampaignStatus.DONE);
  // Jobs of a project that the service does not know yet wait.
  const keyed = { ...call, idempotency: { key: "k", requestHash: new Uint8Array([1]) } };
  const request = { campaignId, vouchers: [{ code: "IMPORTED" }] };
  const first = await imports.importCampaignVouchers(request, keyed);
  expect(await generation()).toBe(CampaignStatus.IN_PROGRESS);
  expect(await imports.importCampaignVouchers(request, keyed)).toEqual(first);
  await addProject(platform, call);
  const { DONE, FAILED } = AsyncActionStatus;
  const ended = async ({ asyncActionId }: ImportStarted) => {
    const get = async () => (await asyncActions.getAsyncAction({ asyncActionId }, call)).status;
    await expect
      .poll(get, { timeout: 20_000 })
      .toSatisfy((status) => [DONE, FAILED].includes(status));
    return get();
  };
  expect(await ended(first)).toBe(DONE);
  expect(await generation()).toBe(CampaignStatus.DONE);
  // The first attempt ended before its response was stored, and the campaign service no longer stores the end.
  await asAdmin(platform.url, async (client) => {
    const ofProject = "where project_id = $1";
    await client.query(`update export.stored_request set response = null ${ofProject}`, [
      call.project.id,
    ]);
    await client.query(`delete from campaign.campaign_import ${ofProject}`, [call.project.id]);
  });
  expect(await imports.importCampaignVouchers(request, keyed)).toEqual(first);
  expect(await generation()).toBe(CampaignStatus.DONE);
  const fileId = await fileOf(call, 'Code\n"never closed\n');
  const failing = await imports.importCampaignVouchersCsv({ campaignId, fileId }, call);
  expect(await ended(failing)).toBe(FAILED);
  expect(await generation()).toBe(CampaignStatus.DONE);
});

test("starts one import for a key", async () => {
  const call = newCall();
  const keyed = { ...call, idempotency: { key: "k", requestHash: new Uint8Array([1]) } };
  const vouchers = [{ code: "C" }];
  const first = await imports.importVouchers({ vouchers }, keyed);
  expect(await imports.importVouchers({ vouchers }, keyed)).toEqual(first);
  const { asyncActions: all } = await asyncActions.listAsyncActions({}, call);
  expect(all).toHaveLength(1);
});

test("parts of a file follow each other, and repeating one changes nothing", async () => {
  const call = newCall();
  const fileId = newId("imp");
  const part = (number: bigint, data: Buffer) =>
    imports.appendImportFile({ fileId, number, data }, call);
  const first = Buffer.alloc(1024 * 1024, "a");
  expect(await keyOf(part(1n, first))).toBe("invalid_payload");
  expect(await part(0n, first)).toMatchObject({ bytes: 1_048_576n });
  expect(await part(0n, first)).toMatchObject({ bytes: 1_048_576n });
  expect(await part(1n, Buffer.from("\nb"))).toMatchObject({ bytes: 1_048_578n });
  expect(await keyOf(part(2n, Buffer.from("c")))).toBe("invalid_payload");
});

test("a bulk update reports the outcome of each item, for a day", async () => {
  const call = newCall();
  await addProject(platform, call);
  const ended = async (asyncActionId: string) => {
    const get = () => asyncActions.getAsyncAction({ asyncActionId }, call);
    await expect.poll(async () => (await get()).status).toBe(AsyncActionStatus.DONE);
    return (await get()).result as Record<string, unknown>;
  };
  const names = Array.from({ length: 1_001 }, (_, index) => `=${index}`);
  const customers = names.map((sourceId) => ({ sourceId }));
  await ended(
    (await imports.bulkUpdateCustomers({ customers: [{ sourceId: "=7" }] }, call)).asyncActionId,
  );
  const { asyncActionId } = await imports.bulkUpdateCustomers({ customers }, call);
  const { reports, reports_available_till: until } = await ended(asyncActionId);
  const [link = ""] = reports as string[];
  const token = new URL(link).searchParams.get("token") ?? "";
  const download = async (part: { readonly first?: bigint; readonly last?: bigint } = {}) => {
    const chunks: Uint8Array[] = [];
    for await (const { data } of exports.downloadReport({ asyncActionId, token, ...part }, call)) {
      chunks.push(data);
    }
    return Buffer.concat(chunks).toString();
  };
  const rows = names.map((name) => `'${name},${name === "=7"},true\n`);
  const text = `id,found,updated\n${rows.join("")}`;
  expect(await download()).toBe(text);
  expect(await download({ first: 9_000n, last: 12_000n })).toBe(text.slice(9_000, 12_001));
  expect(await download({ first: -3n })).toBe(text.slice(-3));

  await asAdmin(platform.url, (client) =>
    client.query(
      "update export.job set finished_at = finished_at - interval '25 hours' where id = $1",
      [asyncActionId],
    ),
  );
  expect(await ended(asyncActionId)).toMatchObject({ reports: [], done_count: 1_001 });
  expect(Date.parse(String(until)) - Date.now()).toBeGreaterThan(86_000_000);
  expect(await keyOf(download())).toBe("not_found");
});
