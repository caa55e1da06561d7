import { randomBytes } from "node:crypto";

import { CampaignVoucherService } from "@scrip/proto/scrip/voucher/v1/campaign_vouchers_pb";
import { type Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf, createDirectTransport } from "@scrip/rpc";
import { afterAll, describe, expect, test } from "vitest";

import { routes } from "../src/routes.ts";
import { coupon, createdVouchers, createIn, newCampaign } from "./campaign-vouchers.ts";
import { depsOf, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const transport = createDirectTransport(routes(depsOf(service.db)));
const client = clientOf(CampaignVoucherService, transport);
const create = createIn(client, service);

const read = (code: string): Promise<Voucher> =>
  service.vouchers.getVoucher({ code }, service.call());

describe("CreateVouchers", () => {
  test("creates vouchers with their campaign, and rejects items one by one", async () => {
    const campaign = newCampaign();
    const taken = `TAKEN-${campaign.id}`;
    const [first, second, third] = await create(campaign, [
      coupon({ code: taken }),
      coupon({ code: taken }),
      coupon({ codeConfig: { pattern: "S-####" } }),
    ]);
    expect(second?.outcome).toMatchObject({
      case: "rejected",
      value: { key: "duplicate_found", details: `Duplicated voucher exists with id ${taken}` },
    });
    const [created, drawn] = createdVouchers([first!, third!]);
    expect(created).toMatchObject({
      campaign: campaign.name,
      campaignId: campaign.id,
      code: taken,
    });
    expect(drawn?.code).toMatch(/^S-[0-9A-Za-z]{4}$/);
    expect(await read(taken)).toEqual(created);
  });

  test("creates none with all_or_none when one item is rejected", async () => {
    const campaign = newCampaign();
    const code = `GONE-${campaign.id}`;
    const items = [{ voucher: coupon({ code }) }, { voucher: coupon({ code }) }];
    const { outcomes } = await client.createVouchers(
      { campaign, items, allOrNone: true },
      service.call(),
    );
    expect(outcomes.map(({ outcome }) => outcome.case)).toEqual(["rejected"]);
    await expect(read(code)).rejects.toMatchObject({ key: "not_found" });
  });

  test("creates referral codes for a referral program", async () => {
    const [created] = createdVouchers(
      await create(newCampaign({ campaignType: "REFERRAL_PROGRAM" }), [coupon()]),
    );
    expect(created?.isReferralCode).toBe(true);
  });

  test("rejects more codes than a mask allows, including existing codes of the campaign", async () => {
    const campaign = newCampaign();
    const unique = randomBytes(4).toString("hex");
    const codeConfig = { pattern: `${unique}-#-[.]`, charset: "a]^-\\" };
    const three = [coupon({ codeConfig }), coupon({ codeConfig }), coupon({ codeConfig })];
    expect(createdVouchers(await create(campaign, three))).toHaveLength(3);

    const counted = { ...campaign, vouchersCount: 3n };
    const rejected = await create(counted, three);
    expect(rejected.map(({ outcome }) => outcome.value)).toMatchObject(
      three.map(() => ({
        key: "invalid_code_config",
        details: "Code config allows to generate up to 5 unique codes, requested 3",
      })),
    );
    const rest = await create(counted, three.slice(1));
    expect(new Set(createdVouchers(rest).map(({ code }) => code)).size).toBe(2);
  });

  test("uses the code config of the campaign instead of the project's", async () => {
    const call = service.call({ codeConfig: JSON.stringify({ prefix: "PROJECT-" }) });
    const { outcomes } = await client.createVouchers(
      { campaign: newCampaign(), items: [{ voucher: coupon({ codeConfig: { length: 9n } }) }] },
      call,
    );
    expect(createdVouchers(outcomes)[0]?.code).toMatch(/^[0-9A-Za-z]{9}$/);
  });
});

test("ListVouchers finds vouchers by the name and by the id of their campaign", async () => {
  const campaign = newCampaign();
  const created = createdVouchers(await create(campaign, [coupon(), coupon()]));
  await create(newCampaign(), [coupon()]);
  for (const query of [
    { campaign: campaign.name },
    { campaignId: campaign.id },
    { filters: { campaign: { conditions: { $is: campaign.name } } } },
  ]) {
    const { vouchers, total } = await service.vouchers.listVouchers(query, service.call());
    expect(total).toBe(2n);
    expect(new Set(vouchers.map(({ id }) => id))).toEqual(new Set(created.map(({ id }) => id)));
  }
});
