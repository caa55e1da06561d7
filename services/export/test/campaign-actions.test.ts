import { createHash } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { createCampaignService } from "@scrip/campaign/service";
import { createPgEventBus } from "@scrip/events";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  AsyncActionService,
  AsyncActionStatus,
} from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, clientOf, createDirectTransport } from "@scrip/rpc";
import { createMetrics } from "@scrip/telemetry";
import { asAdmin, migratedDatabase } from "@scrip/testing";
import { createVoucherService } from "@scrip/voucher/service";
import { afterAll, expect, test } from "vitest";

import { createLocalFiles } from "../src/files/local-files.ts";
import { createExportService } from "../src/service.ts";
import { newCall } from "./builders.ts";

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());

/** Export with the services that it calls, in one database. */
const { url } = parts.use(await migratedDatabase());
const onError = (): void => {};
const bus = await createPgEventBus({ url, onError });
parts.defer(() => bus.close(1_000));
const base = { databaseUrl: url, poolSize: 5, bus, onError };
const folder = await mkdtemp(path.join(tmpdir(), "scrip-actions-"));
const nothing = createDirectTransport([]);
const vouchersOf = parts.use(
  await createVoucherService({ ...base, assetSecret: "test", transports: { loyalty: nothing } }),
);
const voucher = createDirectTransport(vouchersOf.implementations);
const campaignsOf = parts.use(
  await createCampaignService({ ...base, maxVouchers: 5_000_000, transports: { voucher } }),
);
const campaign = createDirectTransport(campaignsOf.implementations);
const transports = { validation: nothing, loyalty: nothing, campaign, voucher };
const own = parts.use(
  await createExportService({
    ...base,
    metrics: createMetrics({ withProcess: false }),
    files: createLocalFiles(folder),
    baseUrl: "",
    transports,
  }),
);
const transport = createDirectTransport(own.implementations);

const actions = clientOf(CampaignActionService, transport);
const asyncActions = clientOf(AsyncActionService, transport);
const campaigns = clientOf(CampaignService, campaign);
const vouchers = clientOf(VoucherService, voucher);
const bin = clientOf(TrashBinService, campaign);

/** Jobs find their project in the replica. */
async function newProject(): Promise<Call> {
  const call = newCall();
  await asAdmin(url, (client) =>
    client.query(
      `insert into export.project
       values ($1, 1, false, 'UTC', 1, true, null, null)`,
      [call.project.id],
    ),
  );
  return call;
}

const newCampaign = (call: Call, more: object = {}) =>
  campaigns.createCampaign(
    {
      name: `campaign ${call.project.id}`,
      voucher: { discount: { type: DiscountType.PERCENT, percentOff: "10" } },
      ...more,
    },
    call,
  );

const done = async (call: Call, asyncActionId: string) => {
  const get = () => asyncActions.getAsyncAction({ asyncActionId }, call);
  await expect
    .poll(async () => (await get()).status, { timeout: 10_000 })
    .toBe(AsyncActionStatus.DONE);
  return get();
};

test("starts the action of a creation from its event, and carries it out", async () => {
  const call = await newProject();
  const { id: campaignId } = await newCampaign(call, { vouchersCount: 2500n });
  const list = async () => (await asyncActions.listAsyncActions({}, call)).asyncActions;
  await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
  const [started] = await list();
  expect(await done(call, started!.id)).toMatchObject({
    type: "CAMPAIGN.VOUCHERS_GENERATE",
    processed: 2500n,
    total: 2500n,
    requestId: call.requestId,
    result: { message: "Generated 2500 vouchers.", done_count: 2500 },
  });
  expect((await vouchers.listVouchers({ campaignId }, call)).total).toBe(2500n);
});

test("starts one action for a request that is repeated under its idempotency key", async () => {
  const call = await newProject();
  const { id: campaignId } = await newCampaign(call);
  const idempotency = { key: "add", requestHash: createHash("sha256").digest() };
  const request = { vouchers: { campaignId, vouchersCount: 120n } };
  const attempt = () => actions.generateCampaignVouchers(request, { ...call, idempotency });
  const first = await attempt();
  expect(await attempt()).toEqual(first);
  await done(call, first.asyncActionId);
  expect((await vouchers.listVouchers({ campaignId }, call)).total).toBe(120n);
  expect((await asyncActions.listAsyncActions({}, call)).asyncActions).toHaveLength(1);
});

test("DeleteCampaign, DeleteLoyaltyProgram and DeleteBinEntry permanently delete objects that are in the bin", async () => {
  const call = await newProject();
  const { id: campaignId, name } = await newCampaign(call, { vouchersCount: 3n });
  const { asyncActionId } = await actions.deleteCampaign({ campaignId: name }, call);
  expect(await done(call, asyncActionId)).toMatchObject({ result: { done_count: 3 } });
  for (const repeat of [actions.deleteCampaign, actions.deleteLoyaltyProgram]) {
    await expect(repeat({ campaignId }, call)).rejects.toMatchObject({ key: "not_found" });
  }
  const [entry] = (await bin.listBinEntries({}, call)).data;
  const purge = () => actions.deleteBinEntry({ binEntryId: entry!.id }, call);
  await purge();
  await expect(purge()).rejects.toMatchObject({ key: "not_found" });
  await newCampaign(call);
});

test("DeleteBinEntry removes the entry of a voucher whose code an earlier attempt has freed", async () => {
  const call = await newProject();
  const { id: campaignId } = await newCampaign(call);
  const { id, code } = await campaigns.createCampaignVouchers({ campaignId }, call);
  await vouchers.deleteVoucher({ code }, call);
  const list = async () => (await bin.listBinEntries({}, call)).data;
  await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
  const [entry] = await list();
  expect(entry).toMatchObject({ resourceId: id, resourceName: code, resourceParentId: campaignId });
  await asAdmin(url, (client) =>
    client.query("update voucher.voucher set code_key = null where id = $1", [id]),
  );
  await actions.deleteBinEntry({ binEntryId: entry!.id }, call);
  expect(await list()).toEqual([]);
});
