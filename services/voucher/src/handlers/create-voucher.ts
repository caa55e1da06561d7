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
import { duplicate, invalidPayload, notFound, Refusal } from "@scrip/errors";
import {
  type CodeConfig as CodeConfigMessage,
  type CreateVoucherRequest,
  GiftEffect,
  VoucherType as VoucherTypes,
  type VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, takeId } from "@scrip/rpc";
import { nameOf, validityOf } from "@scrip/terms";

import type { Deps } from "../deps.ts";
import { codeKeyOf, type VoucherDefinition, type VoucherType } from "../domain/voucher.ts";
import { insertVoucher, newUsage, type NewVoucher } from "../store/vouchers.ts";
import { toVoucher } from "./voucher-message.ts";
import { invalidVoucher, requireValidity, toDiscountDefinition } from "./voucher-request.ts";

/** How often a generated code may turn out to be taken before the config counts as exhausted. */
const MAX_DRAWS = 100;

export const createVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.createVoucher> =>
  async (request, call) => {
    const id = takeId(request, call, () => deps.newId("v"));
    const draft = { ...parse(request, call), id };
    const made = await insertUnderCode(deps, { request, call, draft });
    return toVoucher({ definition: made.definition, usage: newUsage(made) });
  };

type Draft = Omit<VoucherDefinition, "code" | "assetId"> & {
  readonly quantity: bigint | null;
  readonly amount: bigint | null;
};

function parse(request: CreateVoucherRequest, call: Call): Omit<Draft, "id"> {
  refuseUnknown(request);
  const type = nameOf(VoucherTypes, request.type);
  if (type === undefined) throw invalidPayload("Property .type is required");
  requireValues(request, type);
  const validity = validityOf(request);
  requireValidity(validity);
  return {
    projectId: call.project.id,
    type,
    campaignId: null,
    categoryId: request.categoryId ?? null,
    discount: request.discount === undefined ? null : toDiscountDefinition(request.discount),
    giftEffect:
      type === "GIFT_VOUCHER"
        ? (nameOf(GiftEffect, request.gift?.effect) ?? "APPLY_TO_ORDER")
        : null,
    loyaltyPoints: request.loyaltyCard?.points ?? null,
    validity,
    active: request.active ?? true,
    additionalInfo: request.additionalInfo ?? null,
    metadata: request.metadata ?? {},
    isReferralCode: false,
    holderId: null,
    referrerId: null,
    createdAt: call.now,
    updatedAt: null,
    version: 1n,
    quantity: request.redemption?.quantity ?? null,
    amount: request.gift?.amount ?? null,
  };
}

/** What the request names and nobody has. */
function refuseUnknown(request: CreateVoucherRequest): void {
  const { campaign, campaignId, category, categoryId } = request;
  const wanted = campaignId ?? campaign;
  if (wanted !== undefined) throw notFound("campaign", wanted);
  // The gateway has turned names into ids; a gRPC caller sends the id.
  if (category !== undefined && categoryId === undefined) {
    throw invalidPayload("Property .category must be .category_id here");
  }
}

/** Each type has one value object, and must have it. */
function requireValues(request: CreateVoucherRequest, type: VoucherType): void {
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

type Creation = {
  readonly request: CreateVoucherRequest;
  readonly call: Call;
  readonly draft: Draft;
};

/** Stores the voucher under the code that was sent, or under one drawn for it. */
async function insertUnderCode(deps: Deps, creation: Creation): Promise<NewVoucher> {
  const { request, call } = creation;
  if (request.code !== undefined) {
    if (!isPrintable(request.code)) {
      throw invalidPayload("Property .code must not contain control characters");
    }
    const voucher = withCode(deps, creation, request.code);
    if ((await insertVoucher(deps.db, voucher)) === "inserted") return voucher;
    throw duplicate("voucher", "id", request.code);
  }
  const mask = maskOf(request.codeConfig, call);
  const capacity = capacityOf(mask);
  for (let draw = 0; draw < MAX_DRAWS; draw += 1) {
    const voucher = withCode(deps, creation, drawCode(mask, randomInt));
    if ((await insertVoucher(deps.db, voucher)) === "inserted") return voucher;
    if (capacity === 1n) break;
  }
  throw new Refusal("invalid_code_config", {
    details: `Code config allows to generate up to ${capacity} unique codes, and no free one was found`,
  });
}

function withCode(deps: Deps, { call, draft }: Creation, code: string): NewVoucher {
  const { quantity, amount, ...rest } = draft;
  return {
    codeKey: codeKeyOf(code, call.project.caseSensitiveCodes),
    quantity,
    amount,
    definition: {
      ...rest,
      code,
      assetId: deps.assets.seal(call.project.id, code),
    },
  };
}

/** The request's config over the project's: a length that is sent replaces a pattern that is not. */
function maskOf(sent: CodeConfigMessage | undefined, { project }: Call): CodeMask {
  const defaults: CodeConfig =
    project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);
  const own: CodeConfig = {
    ...(sent?.length !== undefined && { length: Number(sent.length) }),
    ...(sent?.charset !== undefined && { charset: sent.charset }),
    ...(sent?.pattern !== undefined && { pattern: sent.pattern }),
    ...(sent?.prefix !== undefined && { prefix: sent.prefix }),
    ...(sent?.postfix !== undefined && { postfix: sent.postfix }),
  };
  const parsed = parseCodeConfig(mergeCodeConfig(defaults, own), project.caseSensitiveCodes);
  if (parsed.kind === "violation") {
    throw new Refusal("invalid_code_config", { details: parsed.text });
  }
  return parsed.mask;
}
