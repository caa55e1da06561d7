import type { DescMethodUnary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { CampaignService, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { DiscountEffect, DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { describe, expect, test } from "vitest";

import { managementApi, newCode } from "../stack/api.ts";
import { grpcCaller, grpcErrorOf } from "../stack/grpc.ts";
import { sharedStack } from "../stack/stack.ts";

const { createVoucher, updateVoucher } = VoucherService.method;
const { createCampaign, updateCampaign } = CampaignService.method;
const { createPromotionTier, updatePromotionTier } = PromotionService.method;
const { createCustomer, updateCustomer } = CustomerService.method;
const { createProduct, updateProduct } = ProductService.method;
const { createOrder, updateOrder } = OrderService.method;
const { createCategory } = CategoryService.method;

const START = timestampFromMs(Date.UTC(2026, 0, 1));
const WEEKDAYS = [1, 2, 3, 4, 5];
const tenPercent = { type: DiscountType.PERCENT, percentOff: "10" };

describe("updates of external gRPC callers", async () => {
  const stack = await sharedStack("distributed");
  const { body } = await managementApi(stack).post("/management/v1/projects", {
    name: newCode("grpc"),
  });
  const projectId: string = body["id"];
  const caller = grpcCaller(stack, { projects: [projectId] });
  const call = <Method extends DescMethodUnary>(
    method: Method,
    request: Parameters<typeof caller>[1],
  ) => caller(method, request, { "x-scrip-project": projectId }) as Promise<any>;

  const voucherWithLimits = async (): Promise<string> => {
    const { code } = await call(createVoucher, {
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: tenPercent,
      startDate: START,
      validityDayOfWeek: WEEKDAYS,
      additionalInfo: "printed",
      redemption: { quantity: 5n },
    });
    return code;
  };

  test("without update_mask, an update writes the fields that it has and keeps the others", async () => {
    const code = await voucherWithLimits();

    const updated = await call(updateVoucher, {
      code,
      additionalInfo: "reprinted",
      discount: { type: DiscountType.PERCENT, effect: DiscountEffect.APPLY_TO_ITEMS },
      active: false,
    });

    expect(updated).toMatchObject({
      additionalInfo: "reprinted",
      active: false,
      discount: { percentOff: "10", effect: DiscountEffect.APPLY_TO_ITEMS },
      startDate: START,
      validityDayOfWeek: WEEKDAYS,
      redemption: { quantity: 5n },
    });
  });

  test("a field that update_mask names without a value is cleared", async () => {
    const code = await voucherWithLimits();

    const updated = await call(updateVoucher, {
      code,
      additionalInfo: "ignored",
      updateMask: { paths: ["start_date", "validity_day_of_week"] },
    });

    expect(updated).toMatchObject({ additionalInfo: "printed", validityDayOfWeek: [] });
    expect(updated.startDate).toBeUndefined();
  });

  test("a request field that update_mask does not name is not written", async () => {
    const { id: orderId } = await call(createOrder, { amount: 100n });
    const { id: productId } = await call(createProduct, { sourceId: newCode("prod"), name: "Mug" });
    const mask = { updateMask: { paths: ["metadata"] }, metadata: { channel: "app" } };

    const order = await call(updateOrder, { orderId, amount: 1n, ...mask });
    const product = await call(updateProduct, { productId, name: "Cup", price: 1n, ...mask });

    expect(order).toMatchObject({ amount: 100n, metadata: { channel: "app" } });
    expect(product).toMatchObject({ name: "Mug", metadata: { channel: "app" } });
    expect(product.price).toBeUndefined();
  });

  test("update_mask may name a field one level below; its neighbours stay", async () => {
    const code = await voucherWithLimits();

    const updated = await call(updateVoucher, {
      code,
      discount: { ...tenPercent, percentOff: "20", effect: DiscountEffect.APPLY_TO_ITEMS },
      updateMask: { paths: ["discount.percent_off"] },
    });

    expect(updated.discount).toMatchObject({ percentOff: "20" });
    expect(updated.discount.effect).toBeUndefined();
  });

  test("update_mask clears a part of an address that it names without a value", async () => {
    const address = { city: "Paris", country: "FR" };
    const { id } = await call(createCustomer, { sourceId: newCode("ada"), address });

    const updated = await call(updateCustomer, {
      customerId: id,
      address: { country: "DE" },
      updateMask: { paths: ["address.city"] },
    });

    expect(updated.address).toMatchObject({ country: "FR" });
    expect(updated.address.city).toBeUndefined();
  });

  test("an empty update_mask is like none, and an unknown path in it is rejected", async () => {
    const code = await voucherWithLimits();

    const updated = await call(updateVoucher, {
      code,
      additionalInfo: "reprinted",
      updateMask: { paths: [] },
    });
    const rejected = call(updateVoucher, {
      code,
      additionalInfo: "lost",
      updateMask: { paths: ["additionalInfo"] },
    });

    expect(updated).toMatchObject({ additionalInfo: "reprinted", startDate: START });
    expect(await grpcErrorOf(rejected)).toMatchObject({
      code: "InvalidArgument",
      key: "invalid_payload",
    });
  });

  test("campaigns, promotion tiers, customers and products are updated without update_mask", async () => {
    const { id: categoryId } = await call(createCategory, { name: newCode("cat"), hierarchy: 1n });
    const { id: campaignId } = await call(createCampaign, {
      name: newCode("grpc"),
      campaignType: CampaignType.PROMOTION,
    });
    const { id: tierId } = await call(createPromotionTier, {
      campaignId,
      name: "Ten",
      banner: "10 % off",
      action: { discount: tenPercent },
    });
    const { id: customerId } = await call(createCustomer, {
      sourceId: newCode("cust"),
      name: "Ada",
      email: "ada@example.com",
    });
    const { id: productId } = await call(createProduct, { sourceId: newCode("prod"), name: "Mug" });

    const campaign = await call(updateCampaign, { campaignId, description: "Spring", categoryId });
    const tier = await call(updatePromotionTier, { tierId, name: "Ten percent" });
    const customer = await call(updateCustomer, { customerId, name: "Ada Lovelace" });
    const product = await call(updateProduct, { productId, price: 1200n });

    expect(campaign).toMatchObject({ description: "Spring", categoryId });
    expect(tier).toMatchObject({ name: "Ten percent", banner: "10 % off" });
    expect(customer).toMatchObject({ name: "Ada Lovelace", email: "ada@example.com" });
    expect(product).toMatchObject({ name: "Mug", price: 1200n });
  });
});
