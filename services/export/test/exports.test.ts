import { newId } from "@scrip/ids";
import { CampaignService, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { ExportService, ExportStatus } from "@scrip/proto/scrip/export/v1/exports_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";
import { asAdmin } from "@scrip/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject, exportReader } from "./export-reader.ts";

const parts = new AsyncDisposableStack();
afterAll(() => parts.disposeAsync());
const platform = parts.use(await startPlatform());
const exports = platform.client(ExportService);
const vouchers = platform.client(VoucherService);
const campaigns = platform.client(CampaignService);
const customers = platform.client(CustomerService);
const orders = platform.client(OrderService);
const products = platform.client(ProductService);
const publications = platform.client(PublicationService);
const transactions = platform.client(TransactionService);

const call = newCall();
beforeAll(() => addProject(platform, call));

const { DONE, SCHEDULED } = ExportStatus;
const { ended, download, rowsOf } = exportReader(platform, call);

const is = (value: string | number | boolean) => ({ conditions: { $is: value } });

const newVoucher = (code: string, more: object = {}, own: Call = call) =>
  vouchers.createVoucher(
    {
      code,
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { type: DiscountType.PERCENT, percentOff: "12.5" },
      ...more,
    },
    own,
  );

test("CreateExport schedules a file with the default fields, GetExport links to it, DeleteExport deletes it", async () => {
  await newVoucher("FIRST");
  const created = await exports.createExport({ exportedObject: "voucher" }, call);
  expect(created).toMatchObject({
    status: SCHEDULED,
    channel: "API",
    exportedObject: "voucher",
    parameters: { fields: ["code", "voucher_type", "value", "discount_type"] },
  });
  expect(created.result).toBeUndefined();
  const done = await ended(created.id);
  expect(done).toMatchObject({ status: DONE, processed: 1n });
  expect(done.result?.url).toMatch(
    new RegExp(`^https://scrip\\.test/v1/exports/${created.id}\\?token=[\\w-]{43}$`),
  );
  const text = "Code,Voucher Type,Value,Discount Type\nFIRST,DISCOUNT_VOUCHER,12.5,PERCENT\n";
  expect(await download(created.id)).toBe(text);
  expect(await download(created.id, { first: 5n, last: 11n })).toBe("Voucher");
  expect(await download(created.id, { first: -8n })).toBe("PERCENT\n");
  expect(await download(created.id, { first: 1_000n })).toBe("");
  const listed = await exports.listExports({ order: "status" }, call);
  expect([listed.exports[0]?.id, listed.total]).toEqual([created.id, 1n]);
  const wrong = exports.downloadExport({ exportId: created.id, token: "x".repeat(43) }, call);
  await expect(wrong[Symbol.asyncIterator]().next()).rejects.toMatchObject({ key: "unauthorized" });

  await exports.deleteExport({ exportId: created.id }, call);
  const downloaded = exports.downloadExport({ exportId: created.id, token: "x" }, call);
  for (const gone of [
    () => exports.deleteExport({ exportId: created.id }, call),
    () => exports.getExport({ exportId: created.id }, call),
    () => downloaded[Symbol.asyncIterator]().next(),
  ]) {
    await expect(gone()).rejects.toMatchObject({ key: "not_found" });
  }
});

test("rejects unknown fields, orders and filters when the export is requested", async () => {
  const request = (parameters: object) =>
    exports.createExport({ exportedObject: "product", parameters }, call);
  for (const [parameters, error] of [
    [{ fields: ["id", "nothing"] }, { key: "invalid_export_fields", message: "Invalid Export" }],
    [{ order: "name" }, { key: "invalid_export_fields" }],
    [{ filters: { nothing: is(1) } }, { key: "invalid_payload" }],
    [{ filters: { price: { conditions: { $nothing: 1 } } } }, { key: "invalid_payload" }],
    [{ filters: { price: { conditions: { $starts_with: 1 } } } }, { key: "invalid_payload" }],
  ] as const) {
    await expect(request(parameters)).rejects.toMatchObject(error);
  }
});

test("vouchers have all fields, those of other services too, and no cell that is a formula", async () => {
  const { id: customerId } = await customers.createCustomer({ sourceId: "=cmd()" }, call);
  await newVoucher("=HYPER", {
    category: undefined,
    additionalInfo: 'line 1\n"quoted", @x',
    metadata: { deep: { a: [1, "é"] }, plain: "-1", number: -1 },
    holderId: customerId,
    active: false,
  });
  await vouchers.createVoucher(
    { code: "GIFT", type: VoucherType.GIFT_VOUCHER, gift: { amount: 200_005n } },
    call,
  );
  const fields = [
    "code",
    "value",
    "gift_balance",
    "active",
    "additional_info",
    "metadata",
    "metadata.plain",
    "metadata.number",
    "metadata.none",
    "category",
    "customer_source_id",
    "loyalty_balance",
    "validation_rules_id",
    "created_at",
  ];
  const filters = { code: { conditions: { $in: ["=HYPER", "GIFT"] } } };
  const [header, ...rows] = await rowsOf("voucher", { fields, order: "code", filters });
  expect(header?.slice(0, 9)).toEqual([
    "Code",
    "Value",
    "Gift Balance",
    "Active",
    "Additional Info",
    "Metadata",
    "Metadata plain",
    "Metadata number",
    "Metadata none",
  ]);
  expect(rows.map((row) => row.slice(0, 9))).toEqual([
    [
      "'=HYPER",
      "12.5",
      "",
      "false",
      'line 1\n"quoted", @x',
      '{"deep":{"a":[1,"é"]},"plain":"-1","number":-1}',
      "'-1",
      "-1",
      "",
    ],
    ["GIFT", "2000.05", "200005", "true", "", "{}", "", "", ""],
  ]);
  expect(rows[0]?.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("customers, orders, products and SKUs are exported with their fields, filters and orders", async () => {
  for (const [sourceId, city] of [
    ["ann", "Berlin"],
    ["bob", "Bonn"],
  ] as const) {
    await customers.createCustomer({ sourceId, name: sourceId, address: { city } }, call);
    await orders.createOrder(
      {
        sourceId: `order of ${sourceId}`,
        amount: 1_000n,
        customer: { sourceId },
        metadata: { by: sourceId },
      },
      call,
    );
  }
  const fields = [
    "name",
    "address_city",
    "redemptions_total_redeemed",
    "orders_total_count",
    "loyalty_points",
  ];
  const filters = { name: { conditions: { $in: ["ann", "bob"] } } };
  expect(await rowsOf("customer", { fields, filters, order: "-name" })).toEqual([
    ["Name", "Address City", "Redemptions Total Redeemed", "Orders Total Count", "Loyalty Points"],
    ["bob", "Bonn", "0", "0", "0"],
    ["ann", "Berlin", "0", "0", "0"],
  ]);
  const orderFields = ["source_id", "amount", "total_amount", "metadata.by"];
  expect(
    await rowsOf("order", {
      fields: orderFields,
      order: "created_at",
      filters: {
        junction: "OR",
        amount: { conditions: { $more_than: 5 } },
        "metadata.by": is("x"),
      },
    }),
  ).toEqual([
    ["Source ID", "Amount", "Total Amount", "Metadata by"],
    ["order of ann", "1000", "1000", "ann"],
    ["order of bob", "1000", "1000", "bob"],
  ]);
  const ofBob = await exports.createOrderExport(
    { parameters: { fields: ["source_id"], filters: { "metadata.by": is("bob") } } },
    call,
  );
  expect(await download(ofBob.id)).toBe("Source ID\norder of bob\n");

  const product = await products.createProduct(
    { name: "Tea", price: 450n, attributes: ["size"] },
    call,
  );
  await products.createSku(
    { productId: product.id, sku: "+small", attributes: { size: "s" } },
    call,
  );
  expect(await rowsOf("product", { fields: ["name", "price", "attributes"] })).toEqual([
    ["Name", "Price", "Attributes"],
    ["Tea", "450", '["size"]'],
  ]);
  expect(await rowsOf("sku", { fields: ["sku", "attributes", "product_id"] })).toEqual([
    ["Sku", "Attributes", "Product ID"],
    ["'+small", '{"size":"s"}', product.id],
  ]);
});

test("redemptions and publications are exported, also without rows", async () => {
  expect(await rowsOf("redemption")).toEqual([
    ["ID", "Object", "Voucher Code", "Customer ID", "Date", "Result"],
  ]);
  const fields = ["id", "order_id", "customer_name", "loyalty_points", "gift_amount"];
  const filters = { result: { conditions: { $failed: true } }, customer_name: is("x") };
  await expect(rowsOf("redemption", { fields, filters })).rejects.toMatchObject({
    key: "invalid_payload",
  });
  expect(await rowsOf("redemption", { fields, filters: { customer_name: is("x") } })).toHaveLength(
    1,
  );
  expect(await rowsOf("publication", { order: "voucher_code" })).toEqual([
    ["Voucher Code", "Customer ID", "Date", "Channel"],
  ]);
  const campaign = await campaigns.createCampaign(
    {
      name: "Published",
      campaignType: CampaignType.DISCOUNT_COUPONS,
      vouchersCount: 2n,
      voucher: {
        type: VoucherType.DISCOUNT_VOUCHER,
        discount: { type: DiscountType.PERCENT, percentOff: "10" },
      },
    },
    call,
  );
  const { vouchers: published } = await publications.createPublication(
    { campaign: { name: campaign.name, count: 2n }, customer: { sourceId: "ada" } },
    call,
  );
  expect(published).toHaveLength(2);
  const codes = published.join(",");
  for (const [field, value] of [
    ["campaign", "Published"],
    ["metadata", "{}"],
  ] as const) {
    const rows = await rowsOf("publication", {
      fields: ["voucher_code", field],
      filters: { voucher_code: { conditions: { $contains: published[1] ?? "" } } },
    });
    expect(rows.slice(1)).toEqual([[codes, value]]);
  }
});

test("transactions of one campaign, card or voucher are exported, and the filters show which", async () => {
  const program = await campaigns.createCampaign(
    {
      name: "Gifts of spring",
      campaignType: CampaignType.GIFT_VOUCHERS,
      voucher: { type: VoucherType.GIFT_VOUCHER, gift: { amount: 100n } },
    },
    call,
  );
  const gift = await vouchers.createVoucher(
    { code: "SPRING", type: VoucherType.GIFT_VOUCHER, gift: { amount: 100n } },
    call,
  );
  for (const amount of [50n, -20n]) {
    await transactions.adjustBalance({ code: "SPRING", amount, sourceId: `by ${amount}` }, call);
  }
  const ofVoucher = await exports.createVoucherTransactionExport(
    {
      code: "SPRING",
      order: "created_at",
      parameters: {
        fields: ["type", "amount", "balance", "source_id", "voucher_id"],
        filters: { voucher_id: is("v_other"), amount: { conditions: { $less_than: 60 } } },
      },
    },
    call,
  );
  expect(ofVoucher.parameters).toEqual({
    order: "created_at",
    fields: ["type", "amount", "balance", "source_id", "voucher_id"],
    filters: {
      junction: "AND",
      amount: { conditions: { $less_than: 60 } },
      voucher_id: { conditions: { $in: [gift.id] } },
    },
  });
  expect(await download(ofVoucher.id)).toBe(
    `Type,Amount,Balance,Source ID,Voucher ID
CREDITS_ADDITION,50,150,by 50,${gift.id}
CREDITS_REMOVAL,-20,130,by -20,${gift.id}
`,
  );
  const ofCampaign = await exports.createCampaignTransactionExport(
    { campaignId: "Gifts of spring" },
    call,
  );
  expect(ofCampaign).toMatchObject({
    exportedObject: "voucher_transactions",
    parameters: {
      filters: { junction: "AND", campaign_id: { conditions: { $in: [program.id] } } },
    },
  });
  expect((await download(ofCampaign.id)).split("\n")).toHaveLength(2);
  // Both ledgers in one order.
  const all = await rowsOf("voucher_transactions", { fields: ["amount"], order: "-created_at" });
  expect(all.slice(0, 3)).toEqual([["Amount"], ["-20"], ["50"]]);

  await newVoucher("NO BALANCE");
  const discounts = await campaigns.createCampaign(
    {
      name: "Discounts",
      campaignType: CampaignType.DISCOUNT_COUPONS,
      voucher: { discount: { type: DiscountType.PERCENT, percentOff: "1" } },
    },
    call,
  );
  for (const [rejected, key] of [
    [() => exports.createVoucherTransactionExport({ code: "NO BALANCE" }, call), "forbidden"],
    [() => exports.createVoucherTransactionExport({ code: "UNKNOWN" }, call), "not_found"],
    [
      () => exports.createCampaignTransactionExport({ campaignId: discounts.id }, call),
      "forbidden",
    ],
    [() => exports.createCampaignTransactionExport({ campaignId: "Unknown" }, call), "not_found"],
    [() => exports.createPointsExpirationExport({ campaignId: program.id }, call), "not_found"],
    [() => exports.createLoyaltyTransactionExport({ campaignId: program.id }, call), "not_found"],
    [() => exports.createLoyaltyTransactionExport({ memberId: "SPRING" }, call), "not_found"],
  ] as const) {
    await expect(rejected()).rejects.toMatchObject({ key });
  }
});

test("points that expire and transactions of loyalty cards are exported", async () => {
  const program = await campaigns.createCampaign(
    {
      name: "Points",
      campaignType: CampaignType.LOYALTY_PROGRAM,
      voucher: { type: VoucherType.LOYALTY_CARD, loyaltyCard: { points: 0n } },
    },
    call,
  );
  const [early, late] = [newId("lopb"), newId("lopb")];
  const own = [call.project.id, "v_card", program.id];
  await asAdmin(platform.url, async (client) => {
    await client.query(
      `insert into loyalty.loyalty_card (project_id, id, points, balance, opened_at, campaign_id)
       values ($1, $2, 15, 15, now(), $3)`,
      own,
    );
    await client.query(
      `insert into loyalty.points_lot (project_id, card_id, id, expires_on, points, expired, created_at)
       values ($1, 'v_card', $2, '2999-01-31', 7, false, now()), ($1, 'v_card', $3, '2026-01-31', 5, false, now()),
              ($1, 'v_card', 'empty', '2999-02-01', 0, false, now())`,
      [call.project.id, late, early],
    );
    await client.query(
      `insert into loyalty.loyalty_member (project_id, card_id, campaign_id, customer_id, initial_points, joined_at)
       values ($1, 'v_new', $2, 'cust_1', 20, now()), ($1, 'v_none', $2, 'cust_2', 0, now())`,
      [call.project.id, program.id],
    );
  });
  const created = await exports.createPointsExpirationExport({ campaignId: program.id }, call);
  expect(created).toMatchObject({ exportedObject: "points_expiration", status: SCHEDULED });
  expect(await download(created.id)).toBe(
    `ID,Campaign ID,Voucher ID,Status,Expires At,Points
${early},${program.id},v_card,EXPIRED,2026-01-31,5
${late},${program.id},v_card,ACTIVE,2999-01-31,7
lopb_card,${program.id},v_card,ACTIVE,,3
lopb_new,${program.id},v_new,ACTIVE,,20
`,
  );
  const loyalty = await exports.createLoyaltyTransactionExport({ campaignId: "Points" }, call);
  expect(await download(loyalty.id)).toBe(
    "ID,Type,Source ID,Reason,Source,Balance,Amount,Created At\n",
  );
  expect(platform.errors).toEqual([]);
});
