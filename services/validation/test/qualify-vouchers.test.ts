import { CampaignKind, CampaignType } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { createPromotionTier, createVoucher, newCode, TEN_PERCENT } from "./builders-requests.ts";
import { newProject, rejectionKey, startServices } from "./deps.ts";

const services = await startServices();
afterAll(() => services[Symbol.asyncDispose]());
const { qualifications } = services;

const order = { amount: 10_000n };
const codesOf = ({ data }: { data: { code: string }[] }) => data.map(({ code }) => code);

describe("QualifyVouchers", () => {
  test("returns whole vouchers that apply, and no promotion tiers", async () => {
    const call = newProject();
    const { code } = await createVoucher(services, call(), { metadata: { colour: "red" } });
    await createVoucher(services, call(), { active: false });
    await createPromotionTier(services, call());
    const result = await qualifications.qualifyVouchers({ order }, call());
    const voucher = await services.vouchers.getVoucher({ code }, call());
    expect(result.data).toEqual([voucher]);
    expect(result.total).toBe(1n);
  });

  test("lists the code of a standalone campaign and none of a bulk campaign", async () => {
    const call = newProject();
    const create = (type: CampaignKind, fields: object) =>
      services.campaigns.createCampaign(
        {
          name: newCode("Campaign"),
          campaignType: CampaignType.DISCOUNT_COUPONS,
          type,
          vouchersCount: 1n,
          voucher: { type: VoucherType.DISCOUNT_VOUCHER, discount: TEN_PERCENT, ...fields },
        },
        call(),
      );
    const code = newCode("OPEN");
    await create(CampaignKind.STANDALONE, { code });
    await create(CampaignKind.STATIC, {});
    expect(codesOf(await qualifications.qualifyVouchers({ order }, call()))).toEqual([code]);
  });

  test("sorts by the requested date and returns at most the limit", async () => {
    const call = newProject();
    const start = Date.now() - 60_000;
    const codes: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      codes.push((await createVoucher(services, call({ now: start + index * 1_000 }))).code);
    }
    const [oldest = "", middle = "", newest = ""] = codes;
    await services.vouchers.updateVoucher(
      { code: oldest, metadata: { changed: true }, updateMask: { paths: ["metadata"] } },
      call(),
    );
    const list = async (sortOrder?: string, limit?: bigint) =>
      codesOf(
        await qualifications.qualifyVouchers(
          {
            order,
            ...(sortOrder !== undefined && { sortOrder }),
            ...(limit !== undefined && { limit }),
          },
          call(),
        ),
      );
    expect(await list()).toEqual([newest, middle, oldest]);
    expect(await list(undefined, 2n)).toEqual([newest, middle]);
    expect(await list("created_at", 2n)).toEqual([oldest, middle]);
    expect(await list("-updated_at", 1n)).toEqual([oldest]);
  });

  test("checks only rules on the customer with audienceRulesOnly", async () => {
    const call = newProject();
    const rules = { "1": { name: "order.amount", conditions: { $more_than: [20_000] } } };
    const rule = await services.rules.createValidationRule({ rules }, call());
    const voucher = await createVoucher(services, call());
    await services.rules.createAssignment(
      { validationRuleId: rule.id, relatedObjectType: "voucher", relatedObjectId: voucher.id },
      call(),
    );
    const list = async (audienceRulesOnly: boolean) =>
      codesOf(await qualifications.qualifyVouchers({ order, audienceRulesOnly }, call()));
    expect(await list(false)).toEqual([]);
    expect(await list(true)).toEqual([voucher.code]);
  });

  test("rejects an unknown customer id and an invalid order", async () => {
    const call = newProject();
    const qualify = (request: Parameters<typeof qualifications.qualifyVouchers>[0]) =>
      rejectionKey(qualifications.qualifyVouchers(request, call()));
    expect(await qualify({ customer: { id: "cust_000000000000000000" } })).toBe("not_found");
    expect(await qualify({ order: { amount: -1n } })).toBe("invalid_order");
  });
});
