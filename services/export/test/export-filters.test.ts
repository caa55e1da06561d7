import type { JsonObject } from "@bufbuild/protobuf";
import { EXPORTS, isExportedObject, specOf } from "@scrip/exports";
import { OPERATORS } from "@scrip/filters";
import { CampaignService, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { DiscountType } from "@scrip/proto/scrip/common/v1/discount_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { LoyaltyExportService } from "@scrip/proto/scrip/loyalty/v1/exports_pb";
import { ValidationExportService } from "@scrip/proto/scrip/validation/v1/exports_pb";
import { VoucherExportService } from "@scrip/proto/scrip/voucher/v1/exports_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { VoucherService, VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { foreignFields } from "../src/export/foreign-fields.ts";
import { ownersOf, rowsRequest } from "../src/export/row-sources.ts";
import { newCall } from "./builders.ts";
import { startPlatform } from "./deps.ts";
import { addProject, exportReader } from "./export-reader.ts";

const platform = await startPlatform();
afterAll(() => platform[Symbol.asyncDispose]());
const vouchers = platform.client(VoucherService);
const customers = platform.client(CustomerService);
const campaigns = platform.client(CampaignService);
const categories = platform.client(CategoryService);
const publications = platform.client(PublicationService);
const rowOwners = {
  rows: {
    voucher: platform.client(VoucherExportService),
    loyalty: platform.client(LoyaltyExportService),
    validation: platform.client(ValidationExportService),
  },
};

const call = newCall();
const { rowsOf } = exportReader(platform, call);

/** Only some fields have states. */
const STATES = new Set([
  "$active",
  "$enabled",
  "$disabled",
  "$expired",
  "$before_start",
  "$failed",
  "$in_progress",
  "$redeemed",
  "$redeemable",
]);

/** An operand that this operator takes for some type. */
const OPERANDS = ["a", 1, true, "2026-01-01T00:00:00Z", "2026-01-01"] as const;

/** Of a request. */
const MAX_CONDITIONS = 20;

type Condition = readonly [operator: string, operand: string | number | boolean];

/** By the type of a field. */
const CONDITIONS_OF_TYPE = new Map<string, readonly Condition[]>();

test.each(Object.keys(EXPORTS).filter(isExportedObject))(
  "every operator of its type works on every field of %s",
  async (object) => {
    const input = { campaignId: null, voucherId: null, balance: null, filters: {}, object };
    const { fields, defaultOrder: order, defaults } = specOf(object);
    for (const owner of ownersOf(rowOwners, input)) {
      const read = async (own: JsonObject, validateOnly: boolean): Promise<void> => {
        const request = rowsRequest(
          { ...input, order, fields: defaults },
          { own, marks: false },
          { fields: defaults, validateOnly },
        );
        for await (const _ of owner(request, call));
      };
      const isAccepted = (own: JsonObject): Promise<boolean> =>
        read(own, true).then(
          () => true,
          () => false,
        );
      for (const [field, type] of [...Object.entries(fields), ["metadata.x", "json"] as const]) {
        if (foreignFields(object).has(field)) continue;
        if (field === "metadata.x" && !Object.hasOwn(fields, "metadata")) continue;
        let conditions = CONDITIONS_OF_TYPE.get(type);
        if (conditions === undefined) {
          conditions = await acceptedConditions((one) =>
            isAccepted({ [field]: { conditions: one } }),
          );
          CONDITIONS_OF_TYPE.set(type, conditions);
        }
        expect(conditions.length).toBeGreaterThan(5);
        for (let at = 0; at < conditions.length; at += MAX_CONDITIONS) {
          const some = Object.fromEntries(conditions.slice(at, at + MAX_CONDITIONS));
          await read({ [field]: { conditions: some } }, false);
        }
      }
    }
  },
);

test.each(Object.keys(EXPORTS))(
  "a filter by an unknown field of %s is rejected",
  async (object) => {
    for (const filters of [{ unknown: is("a") }, { unknown: 1, metadata: is("a") }]) {
      await expect(rowsOf(object, { filters })).rejects.toMatchObject({ key: "invalid_payload" });
    }
  },
);

async function acceptedConditions(
  isAccepted: (condition: JsonObject) => Promise<boolean>,
): Promise<readonly Condition[]> {
  const accepted: Condition[] = [];
  for (const operator of OPERATORS.filter((name) => !STATES.has(name))) {
    for (const operand of OPERANDS) {
      if (!(await isAccepted({ [operator]: operand }))) continue;
      accepted.push([operator, operand]);
      break;
    }
  }
  return accepted;
}

const is = (value: string) => ({ conditions: { $is: value } });

const newVoucher = (code: string, more: object) =>
  vouchers.createVoucher(
    {
      code,
      type: VoucherType.DISCOUNT_VOUCHER,
      discount: { type: DiscountType.PERCENT, percentOff: "12.5" },
      ...more,
    },
    call,
  );

test("filters use fields that other services know, alone and beside others", async () => {
  await addProject(platform, call);
  const { id: categoryId } = await categories.createCategory(
    { name: "Summer", hierarchy: 1n },
    call,
  );
  const { id } = await customers.createCustomer({ sourceId: "ann" }, call);
  await newVoucher("A", { metadata: { color: "red" } });
  await publications.createPublication({ customer: { id }, voucher: "A" }, call);
  await newVoucher("B", { categoryId, metadata: { color: "blue" } });
  await newVoucher("C", { metadata: { color: "red" } });
  const loyaltyCard = { points: 7n };
  await vouchers.createVoucher({ code: "D", type: VoucherType.LOYALTY_CARD, loyaltyCard }, call);
  const red = { "metadata.color": is("red") };
  for (const [filters, expected] of [
    [{ category: is("Summer") }, "B"],
    [{ category: { conditions: { $is_unknown: true } }, ...red }, "A C"],
    [{ customer_source_id: { conditions: { $starts_with: "AN" } } }, "A"],
    [{ customer_source_id: is("ann"), code: is("C") }, ""],
    [{ junction: "OR", customer_source_id: is("ann"), category: is("Summer") }, "A B"],
    [{ junction: "OR", customer_source_id: is("ann"), code: is("C") }, "A C"],
    [{ junction: "or", category: is("Summer"), ...red }, "A B C"],
    [{ junction: "or", category: null, ...red }, "A C"],
    [{ junction: "or", category: is("Summer"), code: null }, "B"],
    [{ loyalty_balance: { conditions: { $more_than: 6, $less_than_equal: 7 } } }, "D"],
    [{ validation_rules_id: { conditions: { $has_value: true } } }, ""],
  ] as const) {
    // JSON is read with a cursor, and categories are looked up.
    const isOr = "junction" in filters;
    for (const fields of isOr
      ? [
          ["code", "metadata"],
          ["code", "category"],
        ]
      : [["code"]]) {
      const [, ...rows] = await rowsOf("voucher", { fields, order: "code", filters });
      const codes = rows.map(([code]) => code).join(" ");
      expect([filters, codes]).toEqual([filters, expected]);
    }
  }
  const points = { loyalty_points: { conditions: { $less_than: 1 } }, source_id: is("ann") };
  expect(await rowsOf("customer", { fields: ["source_id"], filters: points })).toHaveLength(2);
  const impossible = { category: { conditions: { $more_than: 1 } } };
  await expect(rowsOf("voucher", { filters: impossible })).rejects.toMatchObject({
    key: "invalid_payload",
  });
});

test.each([
  { caseSensitiveCodes: true, withOtherCase: 0 },
  { caseSensitiveCodes: false, withOtherCase: 1 },
])(
  "publications are filtered by their codes as the project compares codes: $caseSensitiveCodes",
  async ({ caseSensitiveCodes, withOtherCase }) => {
    const own = newCall();
    const ofProject = { ...own, project: { ...own.project, caseSensitiveCodes } };
    await addProject(platform, ofProject);
    const { name } = await campaigns.createCampaign(
      {
        name: "Published",
        campaignType: CampaignType.DISCOUNT_COUPONS,
        vouchersCount: 2n,
        voucher: {
          type: VoucherType.DISCOUNT_VOUCHER,
          discount: { type: DiscountType.PERCENT, percentOff: "10" },
          codeConfig: { pattern: "Aa##" },
        },
      },
      ofProject,
    );
    const publish = (source: object, sourceId: string) =>
      publications.createPublication({ ...source, customer: { sourceId } }, ofProject);
    const { vouchers: both } = await publish({ campaign: { name, count: 2n } }, "ada");
    const gift = { code: "Xy", type: VoucherType.GIFT_VOUCHER, gift: { amount: 1n } };
    await vouchers.createVoucher(gift, ofProject);
    await publish({ voucher: "Xy" }, "ada");
    await expect(publish({ voucher: "Xy" }, "ben")).rejects.toMatchObject({
      key: "voucher_already_published",
    });
    const { rowsOf: rowsOfProject } = exportReader(platform, ofProject);
    const found = async (operator: string, codes: string): Promise<string[]> => {
      const filters = { voucher_code: { conditions: { [operator]: codes } } };
      const [, ...rows] = await rowsOfProject("publication", { fields: ["voucher_code"], filters });
      return rows.map(([code]) => code ?? "").toSorted();
    };
    const lower = both.join(",").toLowerCase();
    expect(await found("$is", both.join(","))).toEqual([both.join(",")]);
    expect(await found("$is", lower)).toHaveLength(withOtherCase);
    // One succeeded, the other failed.
    expect(await found("$in", "Xy")).toEqual(["Xy", "Xy"]);
    expect(await found("$in", "xY")).toHaveLength(2 * withOtherCase);
    expect(await found("$is_not", "xY")).toHaveLength(3 - 2 * withOtherCase);
  },
);
