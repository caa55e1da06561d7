import { ApiError, invalidPayload } from "@scrip/errors";
import { mergeValidityUpdate, enumName } from "@scrip/mapping";
import { type Discount, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  type UpdateVoucherRequest,
  type VoucherService,
  VoucherType,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";
import type { DiscountDefinition } from "@scrip/rules";

import type { Deps } from "../deps.ts";
import type { VoucherDefinition } from "../domain/voucher.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";
import { invalidVoucher, requireValidity, requireDiscount } from "../voucher/check-request.ts";
import { editWithBalance, type VoucherEdit } from "../voucher/edit-voucher.ts";

export const updateVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.updateVoucher> =>
  (request, call) =>
    editWithBalance(deps, {
      code: request.code,
      call,
      edit: (voucher) => applyRequest(voucher, request, call.now),
    });

function applyRequest(
  { definition, usage }: StoredVoucher,
  request: UpdateVoucherRequest,
  now: number,
): VoucherEdit {
  const sent = new Set(request.updateMask?.paths);
  requireOwnType(request, definition);
  rejectAmounts(request);
  const validity = mergeValidityUpdate(definition.validity, request, sent);
  requireValidity(validity);
  const quantity = sent.has("redemption") ? (request.redemption?.quantity ?? null) : usage.quantity;
  if (quantity !== null && quantity < usage.redeemedQuantity) {
    throw invalidVoucher(
      `Property .redemption.quantity must not be below ${usage.redeemedQuantity}, the redemptions so far`,
    );
  }
  return {
    quantity,
    definition: {
      ...definition,
      validity,
      categoryId: categoryOf(definition, request, sent),
      discount: discountOf(definition, request, sent),
      active: sent.has("active") ? (request.active ?? null) : definition.active,
      additionalInfo: sent.has("additional_info")
        ? (request.additionalInfo ?? null)
        : definition.additionalInfo,
      metadata: sent.has("metadata")
        ? { ...definition.metadata, ...request.metadata }
        : definition.metadata,
      updatedAt: now,
    },
  };
}

/** Amounts change by transactions only, so that the ledger adds up to the balance. */
function rejectAmounts({ code, gift, loyaltyCard }: UpdateVoucherRequest): void {
  const name =
    gift?.amount === undefined
      ? loyaltyCard?.points !== undefined && "loyalty_card.points"
      : "gift.amount";
  if (name === false) return;
  throw new ApiError("resource_protected", {
    details: `Property .${name} cannot be updated: use POST /v1/vouchers/${encodeURIComponent(code)}/balance`,
  });
}

function requireOwnType({ type }: UpdateVoucherRequest, definition: VoucherDefinition): void {
  const name = enumName(VoucherType, type);
  if (name !== undefined && name !== definition.type) {
    throw invalidVoucher(`The type of a voucher cannot be changed: it is ${definition.type}`);
  }
}

function categoryOf(
  definition: VoucherDefinition,
  request: UpdateVoucherRequest,
  sent: ReadonlySet<string>,
): string | null {
  // The gateway resolves names to ids; a gRPC caller sends the id.
  if (request.category !== undefined && request.categoryId === undefined) {
    throw invalidPayload("Property .category must be .category_id here");
  }
  if (!sent.has("category") && !sent.has("category_id")) return definition.categoryId;
  return request.categoryId ?? null;
}

function discountOf(
  definition: VoucherDefinition,
  request: UpdateVoucherRequest,
  sent: ReadonlySet<string>,
): VoucherDefinition["discount"] {
  if (!sent.has("discount")) return definition.discount;
  if (definition.type !== "DISCOUNT_VOUCHER") {
    if (request.discount === undefined) return null;
    throw invalidVoucher(
      `Property .discount does not belong to a voucher of type ${definition.type}`,
    );
  }
  if (request.discount === undefined) {
    throw invalidVoucher("Property .discount is required for a voucher of type DISCOUNT_VOUCHER");
  }
  return requireDiscount(withCurrentValue(request.discount, definition.discount));
}

/** Keeps the value when the request has none, so that a formula can be added to a discount of the same type. */
function withCurrentValue(sent: Discount, current: DiscountDefinition | null): Discount {
  if (current === null || enumName(DiscountType, sent.type) !== current.type) return sent;
  return {
    ...sent,
    percentOff: sent.percentOff ?? current.percentOff ?? undefined,
    amountOff: sent.amountOff ?? current.amountOff ?? undefined,
    fixedAmount: sent.fixedAmount ?? current.fixedAmount ?? undefined,
    unitOff: sent.unitOff ?? (sent.units.length === 0 ? (current.unitOff ?? undefined) : undefined),
  };
}
