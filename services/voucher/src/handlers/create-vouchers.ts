import { capacityOf, type CodeMask, exhaustedText } from "@scrip/codes";
import { ApiError, errorToProto } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type {
  CampaignVoucherItem,
  CampaignVoucherService,
  CreateVoucherOutcome,
  VoucherCampaign as CampaignMessage,
} from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { type Call, type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { campaignFromProto, campaignOriginFromProto } from "../mapping/campaign.ts";
import { codeMaskFromProto } from "../mapping/code-mask.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { countCodes } from "../store/campaign-vouchers.ts";
import { newUsage } from "../store/voucher-writes.ts";
import { insertWithCode } from "../voucher/insert-with-code.ts";
import { upsertLiveCampaign } from "../voucher/live-campaign.ts";
import { draftVoucher } from "../voucher/new-voucher.ts";

type CreateVouchers = Handler<typeof CampaignVoucherService.method.createVouchers>;

/**
 * Creates all vouchers in one transaction. An item is rejected before any of its statements can fail, so that it
 * does not abort the others, unless the caller requested all or none.
 */
export const createVouchers =
  (deps: Deps): CreateVouchers =>
  async ({ campaign, items, allOrNone }, call) => {
    if (campaign === undefined) throw new Error("the contract requires a campaign");
    const batch = { campaign, items, call };
    const outcomes = await deps.db
      .transaction(async (tx) => {
        const created = await createAll(tx, deps, batch);
        if (allOrNone && created.some(isRejected)) throw new NoneCreated(created);
        return created;
      })
      .catch((error: unknown) => {
        if (error instanceof NoneCreated) return error.rejected;
        throw error;
      });
    return { $typeName: "scrip.voucher.v1.CreateVouchersResponse", outcomes };
  };

const isRejected = ({ outcome }: CreateVoucherOutcome): boolean => outcome.case === "rejected";

/** Rolls the transaction back and carries the rejected outcomes. */
class NoneCreated extends Error {
  readonly rejected: CreateVoucherOutcome[];
  constructor(outcomes: readonly CreateVoucherOutcome[]) {
    super("an item was rejected");
    this.rejected = outcomes.filter((outcome) => isRejected(outcome));
  }
}

async function createAll(tx: Queryable, deps: Deps, batch: Batch): Promise<CreateVoucherOutcome[]> {
  const { campaign, items, call } = batch;
  await upsertLiveCampaign(tx, call.project.id, campaignFromProto(campaign));
  const exhaustedMasks = await findExhaustedMasks(tx, batch);
  const outcomes: CreateVoucherOutcome[] = [];
  for (const item of items)
    outcomes.push(await createOne(tx, deps, { campaign, item, call, exhaustedMasks }));
  return outcomes;
}

type Batch = {
  readonly campaign: CampaignMessage;
  readonly items: readonly CampaignVoucherItem[];
  readonly call: Call;
};

type One = Pick<Batch, "campaign" | "call"> & {
  readonly item: CampaignVoucherItem;
  readonly exhaustedMasks: ReadonlyMap<string, ApiError>;
};

async function createOne(tx: Queryable, deps: Deps, one: One): Promise<CreateVoucherOutcome> {
  const { campaign, item, call, exhaustedMasks } = one;
  try {
    const request = item.voucher;
    if (request === undefined) throw new Error("the contract requires a voucher");
    const draft = draftVoucher(request, call, {
      id: reservedOrNewId(request, call, () => deps.newId("v")),
      campaign: campaignOriginFromProto(campaign),
      activityDuration: item.activityDurationAfterPublishing ?? null,
    });
    const mask = (): CodeMask => {
      const own = ownMaskOf(item, call);
      const error = exhaustedMasks.get(JSON.stringify(own));
      if (error !== undefined) throw error;
      return own;
    };
    const created = await insertWithCode(tx, deps, { request, call, draft, mask });
    const voucher = voucherToProto({ definition: created.definition, usage: newUsage(created) });
    return outcomeOf({ case: "voucher", value: voucher });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return outcomeOf({ case: "rejected", value: errorToProto(error, call.requestId) });
  }
}

const outcomeOf = (outcome: CreateVoucherOutcome["outcome"]): CreateVoucherOutcome => ({
  $typeName: "scrip.voucher.v1.CreateVoucherOutcome",
  outcome,
});

const ownMaskOf = ({ voucher }: CampaignVoucherItem, call: Call): CodeMask =>
  codeMaskFromProto(voucher?.codeConfig, {
    defaults: {},
    caseSensitive: call.project.caseSensitiveCodes,
  });

/** Errors of code masks that have too few codes for the request, by mask. */
async function findExhaustedMasks(
  tx: Queryable,
  { campaign, items, call }: Batch,
): Promise<ReadonlyMap<string, ApiError>> {
  const wanted = new Map<string, { readonly mask: CodeMask; readonly count: bigint }>();
  for (const item of items) {
    if (item.voucher?.code !== undefined) continue;
    const mask = ownMaskOf(item, call);
    const name = JSON.stringify(mask);
    wanted.set(name, { mask, count: (wanted.get(name)?.count ?? 0n) + 1n });
  }
  const errors = new Map<string, ApiError>();
  for (const [name, { mask, count }] of wanted) {
    const capacity = capacityOf(mask);
    if (count + campaign.vouchersCount <= capacity) continue;
    const existing = await countCodes(tx, {
      projectId: call.project.id,
      campaignId: campaign.id,
      mask,
      caseSensitive: call.project.caseSensitiveCodes,
    });
    if (count + existing <= capacity) continue;
    const details = exhaustedText(capacity, count);
    errors.set(name, new ApiError("invalid_code_config", { details }));
  }
  return errors;
}
