import { randomInt } from "node:crypto";

import {
  capacityOf,
  type CodeConfig,
  type CodeMask,
  drawCode,
  isPrintable,
  mergeCodeConfig,
  parseCodeConfig,
} from "@scrip/codes";
import { duplicate, invalidPayload, ApiError } from "@scrip/errors";
import { enumName, validityFromProto } from "@scrip/mapping";
import type { Queryable } from "@scrip/postgres";
import {
  type CodeConfig as CodeConfigMessage,
  type CreateVoucherRequest,
  GiftEffect,
  VoucherType as VoucherTypes,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import {
  type CampaignType,
  codeKeyOf,
  type VoucherDefinition,
  type VoucherType,
} from "../domain/voucher.ts";
import { insertVoucher, type NewVoucher } from "../store/voucher-writes.ts";
import { invalidVoucher, requireValidity, requireDiscount } from "./check-request.ts";

/** How often a generated code may turn out to be taken before the config counts as exhausted. */
const MAX_DRAWS = 100;

/** A voucher that has no code yet. */
export type VoucherDraft = Omit<VoucherDefinition, "code" | "assetId"> & {
  readonly quantity: bigint | null;
  readonly amount: bigint | null;
};

/** What a voucher has of where it comes from, beside its request. */
export type VoucherOrigin = {
  readonly id: string;
  readonly campaign: {
    readonly id: string;
    readonly name: string;
    readonly type: CampaignType;
  } | null;
  readonly activityDuration: string | null;
};

export function draftVoucher(
  request: CreateVoucherRequest,
  call: Call,
  origin: VoucherOrigin,
): VoucherDraft {
  const type = enumName(VoucherTypes, request.type);
  if (type === undefined) throw invalidPayload("Property .type is required");
  requireTypeValues(request, type);
  const validity = validityFromProto(request);
  requireValidity(validity);
  return {
    projectId: call.project.id,
    id: origin.id,
    type,
    campaignId: origin.campaign?.id ?? null,
    campaignName: origin.campaign?.name ?? null,
    campaignType: origin.campaign?.type ?? null,
    categoryId: request.categoryId ?? null,
    discount: request.discount === undefined ? null : requireDiscount(request.discount),
    giftEffect:
      type === "GIFT_VOUCHER"
        ? (enumName(GiftEffect, request.gift?.effect) ?? "APPLY_TO_ORDER")
        : null,
    loyaltyPoints: request.loyaltyCard?.points ?? null,
    validity,
    activityDuration: origin.activityDuration,
    active: request.active ?? true,
    additionalInfo: request.additionalInfo ?? null,
    metadata: request.metadata ?? {},
    isReferralCode: origin.campaign?.type === "REFERRAL_PROGRAM",
    holderId: null,
    referrerId: null,
    publishCount: 0n,
    publicationMetadata: null,
    createdAt: call.now,
    updatedAt: null,
    version: 1n,
    quantity: request.redemption?.quantity ?? null,
    amount: request.gift?.amount ?? null,
  };
}

/** Each type has one value object, and must have it. */
function requireTypeValues(request: CreateVoucherRequest, type: VoucherType): void {
  const own = { DISCOUNT_VOUCHER: "discount", GIFT_VOUCHER: "gift", LOYALTY_CARD: "loyalty_card" };
  const sent = {
    discount: request.discount,
    gift: request.gift,
    loyalty_card: request.loyaltyCard,
  };
  for (const [name, value] of Object.entries(sent)) {
    if (name === own[type] && value === undefined) {
      throw invalidVoucher(`Property .${name} is required for a voucher of type ${type}`);
    }
    if (name !== own[type] && value !== undefined) {
      throw invalidVoucher(`Property .${name} does not belong to a voucher of type ${type}`);
    }
  }
  if (type === "GIFT_VOUCHER" && request.gift?.amount === undefined) {
    throw invalidVoucher("Property .gift.amount is required for a voucher of type GIFT_VOUCHER");
  }
  if (type === "LOYALTY_CARD" && request.loyaltyCard?.points === undefined) {
    throw invalidVoucher(
      "Property .loyalty_card.points is required for a voucher of type LOYALTY_CARD",
    );
  }
}

export type Creation = {
  readonly request: CreateVoucherRequest;
  readonly call: Call;
  readonly draft: VoucherDraft;
  /** What the code is drawn by when none is sent. */
  readonly mask: () => CodeMask;
};

/** Stores the voucher under the code that was sent, or under one drawn for it. */
export async function insertWithCode(
  db: Queryable,
  deps: Pick<Deps, "assets">,
  creation: Creation,
): Promise<NewVoucher> {
  const { code } = creation.request;
  if (code !== undefined) {
    if (!isPrintable(code)) {
      throw invalidPayload("Property .code must not contain control characters");
    }
    const voucher = withCode(deps, creation, code);
    if ((await insertVoucher(db, voucher)) === "inserted") return voucher;
    throw duplicate("voucher", "id", code);
  }
  const mask = creation.mask();
  const capacity = capacityOf(mask);
  for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
    const voucher = withCode(deps, creation, drawCode(mask, randomInt));
    if ((await insertVoucher(db, voucher)) === "inserted") return voucher;
    if (capacity === 1n) break;
  }
  throw new ApiError("invalid_code_config", {
    details: `Code config allows to generate up to ${capacity} unique codes, and no free one was found`,
  });
}

function withCode(
  { assets }: Pick<Deps, "assets">,
  { call, draft }: Creation,
  code: string,
): NewVoucher {
  const { quantity, amount, ...rest } = draft;
  return {
    codeKey: codeKeyOf(code, call.project.caseSensitiveCodes),
    quantity,
    amount,
    definition: { ...rest, code, assetId: assets.seal(call.project.id, code) },
  };
}

/** The request's config over the one that stands. */
export function codeMaskFromProto(
  sent: CodeConfigMessage | undefined,
  { standing, caseSensitive }: { readonly standing: CodeConfig; readonly caseSensitive: boolean },
): CodeMask {
  const own: CodeConfig = {
    ...(sent?.length !== undefined && { length: Number(sent.length) }),
    ...(sent?.charset !== undefined && { charset: sent.charset }),
    ...(sent?.pattern !== undefined && { pattern: sent.pattern }),
    ...(sent?.prefix !== undefined && { prefix: sent.prefix }),
    ...(sent?.postfix !== undefined && { postfix: sent.postfix }),
  };
  const parsed = parseCodeConfig(mergeCodeConfig(standing, own), caseSensitive);
  if (parsed.kind === "violation") {
    throw new ApiError("invalid_code_config", { details: parsed.text });
  }
  return parsed.mask;
}
