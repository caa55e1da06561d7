import { fromBinary } from "@bufbuild/protobuf";
import { ApiError, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import { CampaignVoucherItemSchema } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  isPublishable,
  isPublishableOnceCreated,
  noSuitableVoucher,
  type RejectedPublication,
} from "../domain/publication-decision.ts";
import { codeMaskFromProto } from "../mapping/code-mask.ts";
import { lockLiveCampaign, type StoredCampaign } from "../store/campaigns.ts";
import { findUnpublishedVouchers, lockUnpublishedVouchers } from "../store/unpublished-vouchers.ts";
import { lockUsages, sortUsageKeys } from "../store/usages.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { newUsage } from "../store/voucher-writes.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { insertWithCode } from "../voucher/insert-with-code.ts";
import { draftVoucher } from "../voucher/new-voucher.ts";

export type ClaimRequest = {
  readonly campaign: StoredCampaign;
  readonly count: number;
  readonly call: Call;
  /** Whether to wait for vouchers that others lock: they may roll back. */
  readonly waits: boolean;
};

export type ClaimResult =
  | {
      readonly kind: "claimed";
      readonly vouchers: readonly StoredVoucher[];
      /** The ids of those that were generated now. */
      readonly generated: ReadonlySet<string>;
    }
  /** Others lock the remaining vouchers: roll back, and wait in the next attempt. */
  | { readonly kind: "locked" }
  | RejectedPublication;

/** Locks the oldest unpublished vouchers of a campaign, and generates missing ones where the campaign allows it. */
export async function claimVouchers(
  tx: Queryable,
  deps: Deps,
  request: ClaimRequest,
): Promise<ClaimResult> {
  const { campaign, count, call, waits } = request;
  const query = {
    projectId: call.project.id,
    campaignId: campaign.id,
    now: call.now,
    limit: count,
  };
  const free = waits
    ? await waitForUnpublished(tx, query)
    : await load(tx, query.projectId, await lockUnpublishedVouchers(tx, query));
  const missing = count - free.length;
  if (missing === 0) return { kind: "claimed", vouchers: free, generated: new Set() };
  if (campaign.template !== null) {
    const generated = await generate(tx, deps, {
      campaign,
      template: campaign.template,
      call,
      missing,
    });
    if (generated === "none") {
      return noSuitableVoucher("Couldn't create new vouchers for publication");
    }
    return {
      kind: "claimed",
      vouchers: [...free, ...generated],
      generated: new Set(generated.map(({ definition }) => definition.id)),
    };
  }
  // Published vouchers are no longer found, unless their transactions have not committed yet.
  if ((await findUnpublishedVouchers(tx, query)).length === count) return { kind: "locked" };
  return noSuitableVoucher(
    `Campaign '${campaign.name}' has not enough vouchers that are active and were never published`,
  );
}

type Query = Parameters<typeof lockUnpublishedVouchers>[1];

async function load(
  tx: Queryable,
  projectId: string,
  ids: readonly string[],
): Promise<readonly StoredVoucher[]> {
  const found = await findVouchersById(
    tx,
    ids.map((id) => ({ projectId, id })),
  );
  const byId = new Map(found.map((voucher) => [voucher.definition.id, voucher]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Waits for the locks of unpublished vouchers, and returns those that are still unpublished. */
async function waitForUnpublished(tx: Queryable, query: Query): Promise<readonly StoredVoucher[]> {
  const { projectId, now } = query;
  const ids = await findUnpublishedVouchers(tx, query);
  await lockUsages(tx, sortUsageKeys(ids.map((voucherId) => ({ projectId, voucherId }))));
  const locked = await load(tx, projectId, ids);
  return locked.filter(({ definition, usage }) => !usage.deleted && isPublishable(definition, now));
}

async function generate(
  tx: Queryable,
  deps: Deps,
  {
    campaign,
    template,
    call,
    missing,
  }: Pick<ClaimRequest, "campaign" | "call"> & {
    readonly template: Uint8Array;
    readonly missing: number;
  },
): Promise<readonly StoredVoucher[] | "none"> {
  const item = fromBinary(CampaignVoucherItemSchema, template);
  const request = item.voucher;
  if (request === undefined) throw new Error("the template of the campaign has no voucher");
  const { id, name, type } = campaign;
  if (!(await lockLiveCampaign(tx, call.project.id, id))) throw notFound("campaign", id);
  const vouchers: StoredVoucher[] = [];
  for (let index = 0; index < missing; index += 1) {
    const draft = draftVoucher(request, call, {
      id: deps.newId("v"),
      campaign: { id, name, type },
      activityDuration: item.activityDurationAfterPublishing ?? null,
    });
    if (!isPublishableOnceCreated(draft, call.now)) return "none";
    const mask = () =>
      codeMaskFromProto(request.codeConfig, {
        defaults: {},
        caseSensitive: call.project.caseSensitiveCodes,
      });
    try {
      const voucher = await insertWithCode(tx, deps, { request, call, draft, mask });
      vouchers.push({ definition: voucher.definition, usage: newUsage(voucher) });
    } catch (error) {
      if (error instanceof ApiError) return "none";
      throw error;
    }
  }
  return vouchers;
}
