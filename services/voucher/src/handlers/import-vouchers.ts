import { ApiError, duplicate, errorToProto } from "@scrip/errors";
import { enqueue } from "@scrip/events";
import { changed, isReceived, publishReceived } from "@scrip/idempotency";
import { itemOutcome, rejectedItem } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import { type ItemOutcome, ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import type {
  ImportedVoucher as ItemMessage,
  ImportVouchersRequest,
  VoucherImportService,
} from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, reservedOrNewId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import type { CardDefinition } from "../domain/loyalty-card.ts";
import { type CampaignType, codeKeyOf } from "../domain/voucher.ts";
import { loyaltyCardChanged } from "../events/loyalty-card-changed.ts";
import { VOUCHERS_TOPIC } from "../events/voucher-published.ts";
import { campaignFromProto } from "../mapping/campaign.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { upsertCampaign } from "../store/campaigns.ts";
import { updateVouchersTogether, type VoucherChange } from "../store/voucher-batch-updates.ts";
import { type ImportedVoucher, insertVouchers } from "../store/voucher-writes.ts";
import { findVouchers } from "../store/vouchers.ts";
import { invalidVoucher, requireUsableCode } from "../voucher/check-request.ts";
import { draftVoucher } from "../voucher/new-voucher.ts";

type ImportVouchers = Handler<typeof VoucherImportService.method.importVouchers>;

/** Writes the whole batch with one statement; an item that cannot be stored is rejected before or by it. */
export const importVouchers =
  (deps: Deps): ImportVouchers =>
  async (request, call) => ({
    $typeName: "scrip.voucher.v1.ImportVouchersResponse",
    outcomes: await deps.db.transaction((tx) => importAll(tx, deps, { request, call })),
  });

type Batch = { readonly request: ImportVouchersRequest; readonly call: Call };

async function importAll(tx: Queryable, deps: Deps, batch: Batch): Promise<ItemOutcome[]> {
  const { request, call } = batch;
  const { campaign, items } = request;
  if (campaign !== undefined)
    await upsertCampaign(tx, call.project.id, campaignFromProto(campaign));
  const prepared = items.map((item) => prepare(deps, item, batch));
  const inserted = await insertVouchers(tx, inOrderOfCodes(prepared));
  const taken = prepared.flatMap((voucher, index) =>
    voucher instanceof ApiError || inserted.has(voucher.definition.id) ? [] : [index],
  );
  const updated = request.updatesExisting ? await updateExisting(tx, deps, { batch, taken }) : NONE;
  if (request.sendsWebhooks) {
    const created = prepared.flatMap((voucher) =>
      voucher instanceof ApiError || !inserted.has(voucher.definition.id)
        ? []
        : [voucher.definition.code],
    );
    await publishChange(tx, call, { name: "voucher.created", codes: created });
    const codes = [...updated].map((index) => codeOf(items[index]));
    await publishChange(tx, call, { name: "voucher.updated", codes });
  }
  return prepared.map((voucher, index) => {
    if (voucher instanceof ApiError) return rejectedItem(errorToProto(voucher, call.requestId));
    if (inserted.has(voucher.definition.id)) return itemOutcome(ItemResult.CREATED);
    if (updated.has(index)) return itemOutcome(ItemResult.UPDATED);
    const error = duplicate("voucher", "id", voucher.definition.code);
    return rejectedItem(errorToProto(error, call.requestId));
  });
}

const NONE: ReadonlySet<number> = new Set();

const codeOf = (item: ItemMessage | undefined): string => item?.voucher?.code ?? "";

/** Publishes a change of vouchers for webhooks, once for each voucher. */
async function publishChange(
  tx: Queryable,
  call: Call,
  { name, codes }: { readonly name: string; readonly codes: readonly string[] },
): Promise<void> {
  if (codes.length === 0 || !isReceived({ names: [name] }, call)) return;
  const projectId = call.project.id;
  const found = await findVouchers(
    tx,
    codes.map((code) => ({ projectId, code })),
  );
  const vouchers = new Map(found.map((voucher) => [voucher?.definition.id, voucher]));
  const { output } = VoucherService.method.createVoucher;
  const changes = [...vouchers.values()].flatMap((voucher) =>
    voucher === undefined ? [] : [{ ...changed(output, voucherToProto(voucher)), names: [name] }],
  );
  await publishReceived(tx, call, { topic: VOUCHERS_TOPIC, changes, isBulk: true });
}

/** So that two imports of the same codes wait for each other instead of deadlocking. */
const inOrderOfCodes = (prepared: readonly (ImportedVoucher | ApiError)[]): ImportedVoucher[] =>
  prepared
    .flatMap((voucher) => (voucher instanceof ApiError ? [] : [voucher]))
    .toSorted((a, b) => (a.codeKey < b.codeKey ? -1 : a.codeKey > b.codeKey ? 1 : 0));

function prepare(
  deps: Deps,
  item: ItemMessage,
  { request: { campaign }, call }: Batch,
): ImportedVoucher | ApiError {
  const { voucher: request, redeemedQuantity, redeemedAmount } = item;
  if (request === undefined) throw new Error("the contract requires a voucher");
  try {
    const { code } = request;
    if (code === undefined) throw invalidVoucher("Property .code is required");
    requireUsableCode(code);
    const { quantity, amount, ...definition } = draftVoucher(request, call, {
      id: reservedOrNewId(request, call, () => deps.newId("v")),
      campaign: campaign === undefined ? null : originOf(campaign),
      activityDuration: item.activityDurationAfterPublishing ?? null,
    });
    if (redeemedAmount > (amount ?? 0n)) {
      throw invalidVoucher("The redeemed amount must not exceed the gift amount");
    }
    if (quantity !== null && redeemedQuantity > quantity) {
      throw invalidVoucher("The redeemed quantity must not exceed the redemption limit");
    }
    return {
      definition: { ...definition, code, assetId: deps.assets.seal(call.project.id, code) },
      codeKey: codeKeyOf(code, call.project.caseSensitiveCodes),
      quantity,
      amount,
      redeemedQuantity,
      redeemedAmount,
    };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

const originOf = ({ id, name, campaignType }: NonNullable<ImportVouchersRequest["campaign"]>) => ({
  id,
  name,
  // The contract restricts it to these values.
  type: campaignType as CampaignType,
});

/** Applies items to vouchers of the same campaign that have their codes; returns the items that were applied. */
async function updateExisting(
  tx: Queryable,
  deps: Deps,
  { batch, taken }: { readonly batch: Batch; readonly taken: readonly number[] },
): Promise<ReadonlySet<number>> {
  const {
    request: { campaign, items },
    call,
  } = batch;
  const projectId = call.project.id;
  const lookups = taken.map((index) => ({ projectId, code: codeOf(items[index]) }));
  const found = await findVouchers(tx, lookups);
  // A later item for the same voucher wins.
  const changes = new Map<string, VoucherChange>();
  const ofItem = new Map<number, string>();
  for (const [at, index] of taken.entries()) {
    const definition = found[at]?.definition;
    const item = items[index];
    if (definition === undefined || item?.voucher === undefined) continue;
    if (definition.campaignId !== (campaign?.id ?? null)) continue;
    const { id } = definition;
    const { active, categoryId } = item.voucher;
    const before = changes.get(id);
    ofItem.set(index, id);
    changes.set(id, {
      id,
      active: item.setsActive ? active : before?.active,
      categoryId: item.setsCategory ? (categoryId ?? null) : before?.categoryId,
    });
  }
  const { live, cards } = await updateVouchersTogether(tx, projectId, {
    changes: [...changes.values()],
    at: call.now,
  });
  if (cards.length > 0) {
    const changeOf = (card: CardDefinition) =>
      loyaltyCardChanged(deps.newId("event"), card, call.now);
    await enqueue(tx, cards.map(changeOf), call);
  }
  return new Set([...ofItem].flatMap(([index, id]) => (live.has(id) ? [index] : [])));
}
