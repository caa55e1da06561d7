import { fromBinary } from "@bufbuild/protobuf";
import { ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import { CampaignVoucherItemSchema } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  isPublishable,
  noSuitableVoucher,
  type RejectedPublication,
} from "../domain/publication.ts";
import type { StoredCampaign } from "../store/campaigns.ts";
import { findUnpublishedVouchers, lockUnpublishedVouchers } from "../store/unpublished-vouchers.ts";
import { lockUsages, sortUsageKeys } from "../store/usages.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { newUsage } from "../store/voucher-writes.ts";
import { findVouchersById } from "../store/vouchers.ts";
import { draftVoucher, insertWithCode, codeMaskFromProto } from "../voucher/new-voucher.ts";

export type ClaimRequest = {
  readonly campaign: StoredCampaign;
  readonly count: number;
  readonly call: Call;
  /** Wait for vouchers that others hold, who may not take them after all. */
  readonly waits: boolean;
};

export type ClaimResult =
  | {
      readonly kind: "claimed";
      readonly vouchers: readonly StoredVoucher[];
      /** Of those, the ones that were made now. */
      readonly generated: ReadonlySet<string>;
    }
  /** Others hold what is left: nothing may be kept of this attempt, and the next one waits. */
  | { readonly kind: "locked" }
  | RejectedPublication;

/** Locks as many vouchers of a campaign as are asked for, the oldest ones first, or makes them. */
export async function claimVouchers(
  tx: Queryable,
  deps: Deps,
  taking: ClaimRequest,
): Promise<ClaimResult> {
  const { campaign, count, call, waits } = taking;
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
    const made = await generate(tx, deps, { campaign, template: campaign.template, call, missing });
    if (made === "exhausted")
      return noSuitableVoucher("Couldn't create new vouchers for publication");
    const generated = new Set(made.map(({ definition }) => definition.id));
    return { kind: "claimed", vouchers: [...free, ...made], generated };
  }
  // Those that are taken already are no longer found, unless whoever takes them has not committed.
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

/** Of the vouchers that were free a moment ago those that still are once nobody else holds them. */
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
): Promise<readonly StoredVoucher[] | "exhausted"> {
  const item = fromBinary(CampaignVoucherItemSchema, template);
  const request = item.voucher;
  if (request === undefined) throw new Error("a template without a voucher was kept");
  const { id, name, type } = campaign;
  const made: StoredVoucher[] = [];
  for (let index = 0; index < missing; index += 1) {
    const draft = draftVoucher(request, call, {
      id: deps.newId("v"),
      campaign: { id, name, type },
      activityDuration: item.activityDurationAfterPublishing ?? null,
    });
    const mask = () =>
      codeMaskFromProto(request.codeConfig, {
        standing: {},
        caseSensitive: call.project.caseSensitiveCodes,
      });
    try {
      const voucher = await insertWithCode(tx, deps, { request, call, draft, mask });
      made.push({ definition: voucher.definition, usage: newUsage(voucher) });
    } catch (error) {
      if (error instanceof ApiError) return "exhausted";
      throw error;
    }
  }
  return made;
}
