import { createHash } from "node:crypto";

import { fromBinary } from "@bufbuild/protobuf";
import { newId } from "@scrip/ids";
import type { CampaignJob } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignStatus, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import {
  CampaignChanged_Change,
  CampaignChangedSchema,
} from "@scrip/proto/scrip/events/v1/campaigns_pb";
import type { Call } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { requireCampaign } from "../src/campaign/require-campaign.ts";
import { inheritFromCampaign, voucherCampaignToProto } from "../src/mapping/campaign-voucher.ts";
import { newCall, newCoupons, rejectionKey, TEN_PERCENT } from "./builders.ts";
import { startCampaigns } from "./deps.ts";

const service = await startCampaigns();
afterAll(() => service[Symbol.asyncDispose]());
const { bin, campaigns, campaignVouchers, db, jobs, network, vouchers } = service;
const { DONE, FAILED, IN_PROGRESS, MODIFYING } = CampaignStatus;

const pendingJobs = async (call: Call): Promise<readonly string[]> => {
  const { rows } = await db.query<{ id: string }>(
    "select id from campaign_job where project_id = $1 and status = 'PENDING' order by id",
    [call.project.id],
  );
  return rows.map(({ id }) => id);
};

/** Continues a job as the export service does, also after failures, and returns its end. */
async function carryOut(call: Call, jobId: string): Promise<CampaignJob> {
  for (;;) {
    const job = await jobs.continueJob({ jobId }, call).catch(() => undefined);
    if (job?.finished === true) return job;
  }
}

const carryOutAll = async (call: Call): Promise<void> => {
  for (const id of await pendingJobs(call)) await carryOut(call, id);
};

const read = (call: Call, campaignId: string) => campaigns.getCampaign({ campaignId }, call);
const total = async (call: Call, campaignId: string): Promise<bigint> =>
  (await vouchers.listVouchers({ campaignId }, call)).total;

const request = (call: Call, campaignId: string, more: object = {}) =>
  jobs.requestVouchers(
    { jobId: newId("aa"), vouchers: { campaignId, vouchersCount: 150n, ...more } },
    call,
  );

describe("a job that generates vouchers", () => {
  test("makes a new campaign of more than 100 codes complete", async () => {
    const call = newCall();
    const created = await newCoupons(service, call, { vouchersCount: 600n });
    expect(created).toMatchObject({ vouchersCount: 0n, creationStatus: IN_PROGRESS });
    const [jobId] = await pendingJobs(call);
    expect(await jobs.continueJob({ jobId: jobId! }, call)).toMatchObject({
      type: "CAMPAIGN.VOUCHERS_GENERATE",
      campaignId: created.id,
      total: 600n,
      done: 500n,
      finished: false,
    });
    const partial = { vouchersCount: 500n, creationStatus: IN_PROGRESS };
    expect(await read(call, created.id)).toMatchObject(partial);
    expect(await carryOut(call, jobId!)).toMatchObject({ done: 600n });
    expect(await read(call, created.id)).toMatchObject({
      vouchersCount: 600n,
      creationStatus: DONE,
      vouchersGenerationStatus: DONE,
    });
    expect(await total(call, created.id)).toBe(600n);
    // What has ended stays ended.
    expect(await carryOut(call, jobId!)).toMatchObject({ done: 600n, finished: true });
  });

  test("makes exactly the requested number when responses are lost and slices are repeated", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 550n });
    const [jobId = ""] = await pendingJobs(call);
    Object.assign(network, { isUp: true, losesResponses: true });
    for (const _ of [1, 2])
      expect(await rejectionKey(jobs.continueJob({ jobId }, call))).not.toBe("not rejected");
    Object.assign(network, { losesResponses: false });
    const replica = service.replica().jobs;
    await Promise.allSettled(
      [1, 2, 3, 4].map((n) => (n % 2 ? jobs : replica).continueJob({ jobId }, call)),
    );
    expect(await carryOut(call, jobId)).toMatchObject({ done: 550n });
    expect(await total(call, id)).toBe(550n);
    expect(await read(call, id)).toMatchObject({ vouchersCount: 550n });
  });

  test("waits for an attempt of the same slice that another caller has begun", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 500n });
    const [jobId = ""] = await pendingJobs(call);
    const replica = service.replica().jobs;
    const attempts = [jobs, replica, jobs, replica].map((each) =>
      each.continueJob({ jobId }, call),
    );
    for (const job of await Promise.all(attempts)) {
      expect(job).toMatchObject({ done: 500n, finished: true });
    }
    expect(await read(call, id)).toMatchObject({ vouchersCount: 500n });
  });

  test("counts the codes of a slice that a process with larger slices has generated", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 900n });
    const [jobId = ""] = await pendingJobs(call);
    const { campaign } = await requireCampaign(db, call.project.id, id);
    const item = inheritFromCampaign(campaign);
    const key = `${jobId}>0>`;
    await campaignVouchers.generateVouchers(
      { campaign: voucherCampaignToProto(campaign), item, count: 800n },
      { ...call, idempotency: { key, requestHash: createHash("sha256").update(key).digest() } },
    );
    expect(await jobs.continueJob({ jobId }, call)).toMatchObject({ done: 800n, finished: false });
    expect(await carryOut(call, jobId)).toMatchObject({ done: 900n });
    expect(await total(call, id)).toBe(900n);
  });

  test("adds vouchers with the values of the request, once for each idempotency key", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call);
    const key = { key: `add ${id}`, requestHash: createHash("sha256").digest() };
    const keyed = { ...call, idempotency: key };
    const own = { metadata: { shop: "x" }, codeConfig: { prefix: "P-" }, category: "Spring" };
    const first = await request(keyed, id, own);
    expect(await request(keyed, id, own)).toEqual(first);
    expect(await read(call, id)).toMatchObject({
      creationStatus: DONE,
      vouchersGenerationStatus: IN_PROGRESS,
    });
    await carryOutAll(call);
    const {
      vouchers: [one],
      total: count,
    } = await vouchers.listVouchers({ campaignId: id }, call);
    expect(count).toBe(150n);
    expect(one).toMatchObject({
      metadata: { shop: "x" },
      discount: TEN_PERCENT,
      categoryId: expect.stringMatching(/^cat_/),
    });
    expect(one?.code).toMatch(/^P-/);
  });

  test("is rejected before it starts when codes, room or the kind of the campaign do not allow it", async () => {
    const call = newCall();
    const codeConfig = { pattern: "X-##", charset: "0123456789" };
    const { id } = await newCoupons(service, call, {
      voucher: { discount: TEN_PERCENT, codeConfig },
    });
    const promotion = await newCoupons(service, call, {
      campaignType: CampaignType.PROMOTION,
      voucher: undefined,
    });
    await request(call, id, { vouchersCount: 60n });
    for (const [campaignId, more, key] of [
      // The job that waits needs 60 of the 100 codes.
      [id, { vouchersCount: 41n }, "invalid_code_config"],
      [id, { vouchersCount: 1_000_000n }, "invalid_campaign_params"],
      [id, { code: "ONE" }, "invalid_payload"],
      [promotion.id, {}, "invalid_campaign"],
      ["camp_0", {}, "not_found"],
    ] as const) {
      expect(await rejectionKey(request(call, campaignId, more))).toBe(key);
    }
    await request(call, id, { vouchersCount: 40n });
    await carryOutAll(call);
    expect(await total(call, id)).toBe(100n);
  });

  test("fails the campaign when it cannot continue, and ends with its deletion", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 101n });
    const [jobId = ""] = await pendingJobs(call);
    await jobs.failJob({ jobId }, call);
    await jobs.failJob({ jobId }, call);
    const { rows } = await db.query<{ payload: Uint8Array }>(
      "select payload from outbox where key = $1 and type = $2",
      [id, CampaignChangedSchema.typeName],
    );
    const failed = CampaignChanged_Change.VOUCHERS_GENERATION_FAILED;
    expect(
      rows
        .map(({ payload }) => fromBinary(CampaignChangedSchema, payload))
        .filter(({ change }) => change === failed),
    ).toMatchObject([{ campaignId: id, jobId }]);
    expect(await read(call, id)).toMatchObject({
      creationStatus: FAILED,
      vouchersGenerationStatus: FAILED,
    });
    expect(await rejectionKey(jobs.continueJob({ jobId }, call))).toBe("invalid_campaign");
    const later = await request(call, id);
    await jobs.requestDeletion({ jobId: newId("aa"), campaignId: id }, call);
    expect(await rejectionKey(jobs.continueJob({ jobId: later.id }, call))).toBe("not_found");
  });
});

describe("jobs of a campaign", () => {
  test("run in the order of their requests, whichever action starts first", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 120n });
    const [creation = ""] = await pendingJobs(call);
    const { id: addition } = await request(call, id);
    expect(await jobs.continueJob({ jobId: addition }, call)).toMatchObject({
      done: 0n,
      finished: false,
    });
    expect(await jobs.continueJob({ jobId: creation }, call)).toMatchObject({
      done: 120n,
      finished: true,
    });
    expect(await carryOut(call, addition)).toMatchObject({ done: 150n });
    expect(await total(call, id)).toBe(270n);
  });
});

describe("a job that updates vouchers", () => {
  test("applies an update behind the jobs that wait, and shows MODIFYING until then", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 120n });
    const update = { campaignId: id, discount: { ...TEN_PERCENT, percentOff: "30" } };
    const mask = { updateMask: { paths: ["discount"] } };
    expect(await campaigns.updateCampaign({ ...update, ...mask }, call)).toMatchObject({
      creationStatus: MODIFYING,
      voucher: { discount: { percentOff: "30" } },
    });
    expect(await pendingJobs(call)).toHaveLength(2);
    await carryOutAll(call);
    expect(await read(call, id)).toMatchObject({
      creationStatus: DONE,
      vouchersGenerationStatus: DONE,
    });
    const { vouchers: found } = await vouchers.listVouchers({ campaignId: id, limit: 100n }, call);
    expect(new Set(found.map(({ discount }) => discount?.percentOff))).toEqual(new Set(["30"]));
  });

  test("merges metadata into all vouchers in the order of the updates", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, {
      vouchersCount: 101n,
      useVoucherMetadataSchema: true,
    });
    const update = (metadata: { [key: string]: string }, unsetMetadataFields: string[] = []) =>
      campaigns.updateCampaign(
        {
          campaignId: id,
          metadata,
          unsetMetadataFields,
          updateMask: { paths: ["metadata", "unset_metadata_fields"] },
        },
        call,
      );
    await update({ a: "1", b: "1" });
    await update({ a: "2" }, ["b"]);
    await carryOutAll(call);
    const {
      vouchers: [one],
    } = await vouchers.listVouchers({ campaignId: id }, call);
    expect(one?.metadata).toEqual({ a: "2" });
  });
});

describe("a job that deletes vouchers", () => {
  test("deletes slice by slice, in the order of the vouchers, and each once", async () => {
    const call = newCall();
    const { id, name } = await newCoupons(service, call, { vouchersCount: 4100n });
    await carryOutAll(call);
    const { vouchers: listed } = await vouchers.listVouchers({ campaignId: id, limit: 100n }, call);
    const job = await jobs.requestDeletion({ jobId: newId("aa"), campaignId: name }, call);
    expect(job).toMatchObject({ type: "CAMPAIGN.VOUCHERS_DELETE", total: 4100n, done: 2000n });
    expect(await total(call, id)).toBe(2100n);
    for (const { code } of listed) {
      expect(await rejectionKey(vouchers.getVoucher({ code }, call))).toBe("not_found");
    }
    expect(await rejectionKey(read(call, id))).toBe("not_found");
    expect((await campaigns.listCampaigns({}, call)).total).toBe(0n);
    expect(await carryOut(call, job.id)).toMatchObject({ done: 4100n });
    expect(await total(call, id)).toBe(0n);
    expect(await rejectionKey(newCoupons(service, call, { name }))).toBe("duplicate_found");

    const { data } = await bin.listBinEntries({}, call);
    expect(data).toMatchObject([{ resourceId: id, resourceName: name, resourceType: "campaign" }]);
    const purge = await jobs.requestPurge({ jobId: newId("aa"), campaignId: id }, call);
    await newCoupons(service, call, { name });
    expect(await carryOut(call, purge.id)).toMatchObject({ done: 4100n });
    expect((await bin.listBinEntries({}, call)).total).toBe(0n);
    const { rows } = await db.query("select from campaign where id = $1", [id]);
    expect(rows).toHaveLength(0);
    expect(
      await rejectionKey(jobs.requestPurge({ jobId: newId("aa"), campaignId: id }, call)),
    ).toBe("not_found");
  });

  test("leaves the rest of a small campaign to the job when the voucher service does not respond", async () => {
    const call = newCall();
    const { id } = await newCoupons(service, call, { vouchersCount: 5n });
    Object.assign(network, { isUp: false });
    const job = await jobs.requestDeletion(
      { jobId: newId("aa"), campaignId: id, force: true },
      call,
    );
    Object.assign(network, { isUp: true });
    expect(job).toMatchObject({ finished: false });
    expect(await carryOut(call, job.id)).toMatchObject({ done: 5n });
    expect(await total(call, id)).toBe(0n);
  });
});

describe("ListBinEntries", () => {
  test("pages by id in both directions, filters, and returns one entry", async () => {
    const call = newCall();
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) {
      const { id } = await newCoupons(service, call);
      await jobs.requestDeletion({ jobId: newId("aa"), campaignId: id }, call);
      ids.push(id);
    }
    const list = async (query: Parameters<typeof bin.listBinEntries>[0]) => {
      const {
        data,
        total: count,
        hasMore,
        moreStartingAfter,
      } = await bin.listBinEntries(query, call);
      return { found: data.map(({ resourceId }) => resourceId), count, hasMore, moreStartingAfter };
    };
    const first = await list({ limit: 2n, order: "id" });
    expect(first).toMatchObject({ found: ids.slice(0, 2), count: 2n, hasMore: true });
    const second = await list({ order: "id", startingAfterId: first.moreStartingAfter });
    expect(second).toMatchObject({ found: ids.slice(2), count: 1n, hasMore: false });
    expect((await list({})).found).toEqual(ids.toReversed());
    const filters = { resource_id: { conditions: { $is: [ids[1]!] } } };
    expect(await list({ filters })).toMatchObject({ found: [ids[1]], count: 1n });
    const [entry] = (await bin.listBinEntries({ filters }, call)).data;
    expect(await bin.getBinEntry({ binEntryId: entry!.id }, call)).toEqual(entry);
    await bin.removeBinEntry({ binEntryId: entry!.id }, call);
    expect(await rejectionKey(bin.getBinEntry({ binEntryId: entry!.id }, call))).toBe("not_found");
  });
});
