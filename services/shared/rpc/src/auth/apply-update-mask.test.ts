import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import {
  OrderService,
  type UpdateOrderRequestSchema,
} from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import {
  type UpdateVoucherRequestSchema,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { applyUpdateMask } from "./apply-update-mask.ts";

const { updateVoucher } = VoucherService.method;
const { updateOrder } = OrderService.method;

function maskedVoucher(init: MessageInitShape<typeof UpdateVoucherRequestSchema>) {
  const request = create(updateVoucher.input, { code: "TEN", ...init });
  applyUpdateMask(updateVoucher, request);
  return request;
}

function maskedOrder(init: MessageInitShape<typeof UpdateOrderRequestSchema>) {
  const request = create(updateOrder.input, { orderId: "ord_1", ...init });
  applyUpdateMask(updateOrder, request);
  return request;
}

describe("an update mask", () => {
  test.each([
    ["absent", {}],
    ["empty", { updateMask: { paths: [] } }],
  ])("that is %s names the fields that the request has", (_name, mask) => {
    const discount = { type: DiscountType.PERCENT, percentOff: "10" };
    const { updateMask } = maskedVoucher({ additionalInfo: "printed", discount, ...mask });
    expect(updateMask?.paths.toSorted()).toEqual([
      "additional_info",
      "discount",
      "discount.percent_off",
      "discount.type",
    ]);
  });

  test("removes the fields that it does not name from the request", () => {
    const order = maskedOrder({
      amount: 5n,
      metadata: { channel: "app" },
      updateMask: { paths: ["metadata"] },
    });
    expect(order).toMatchObject({ orderId: "ord_1", metadata: { channel: "app" } });
    expect(order.amount).toBeUndefined();
  });

  test("that names a field of an object keeps the ids of the object", () => {
    const order = maskedOrder({
      customer: { sourceId: "ada", name: "Ada", email: "ada@example.com" },
      updateMask: { paths: ["customer.name"] },
    });
    expect(order.customer).toMatchObject({ sourceId: "ada", name: "Ada" });
    expect(order.customer?.email).toBeUndefined();
  });

  test("keeps the ids of an object that is created or updated, but not the new source id of an update", () => {
    const paths = ["name"];
    const { createProduct, updateProduct } = ProductService.method;
    const upsert = create(createProduct.input, { sourceId: "mug", updateMask: { paths } });
    const update = create(updateProduct.input, { sourceId: "mug", updateMask: { paths } });
    applyUpdateMask(createProduct, upsert);
    applyUpdateMask(updateProduct, update);
    expect(upsert).toMatchObject({ sourceId: "mug", updateMask: { paths } });
    expect(update.sourceId).toBeUndefined();
  });

  test("names fields without a value, to clear them", () => {
    const { startDate, updateMask } = maskedVoucher({ updateMask: { paths: ["start_date"] } });
    expect(startDate).toBeUndefined();
    expect(updateMask?.paths).toEqual(["start_date"]);
  });

  test("names fields one level below, without their neighbours", () => {
    const { discount, updateMask } = maskedVoucher({
      discount: {
        type: DiscountType.PERCENT,
        percentOff: "20",
        effect: DiscountEffect.APPLY_TO_ITEMS,
      },
      updateMask: { paths: ["discount.percent_off", "redemption.quantity"] },
    });
    expect(discount).toMatchObject({ type: DiscountType.PERCENT, percentOff: "20" });
    expect(discount?.effect).toBeUndefined();
    expect(updateMask?.paths).toEqual([
      "discount",
      "discount.percent_off",
      "redemption",
      "redemption.quantity",
    ]);
  });

  test("names the fields that the request has below, and those of the mask, beside a whole field", () => {
    const { updateCampaign } = CampaignService.method;
    const request = create(updateCampaign.input, {
      campaignId: "camp_1",
      loyaltyCard: { points: 5n },
      updateMask: { paths: ["loyalty_card", "loyalty_card.expiration_rules"] },
    });
    applyUpdateMask(updateCampaign, request);
    expect(request.updateMask?.paths).toEqual([
      "loyalty_card",
      "loyalty_card.points",
      "loyalty_card.expiration_rules",
    ]);
  });

  test.each([
    "nonsense",
    "additionalInfo",
    "*",
    "",
    "code",
    "update_mask",
    "metadata.channel",
    "discount.nonsense",
    "discount.product.id",
    "active.below",
  ])("with the path '%s' is rejected", (path) => {
    const masked = () => maskedVoucher({ updateMask: { paths: ["active", path] } });
    expect(masked).toThrow(
      expect.objectContaining({
        key: "invalid_payload",
        options: {
          details: `Property .update_mask must not have the path '${path}': no such field to write`,
        },
      }),
    );
  });
});
