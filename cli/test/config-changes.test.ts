import { expect, test } from "vitest";

import { createProject, startConfig } from "./config-commands.ts";

const { installation, apply, plan, exported } = await startConfig();

/** Applies files to a new project, one after another; each changes nothing the second time. */
async function applyAll(...files: readonly string[]) {
  const project = await createProject(installation.env);
  for (const file of files) {
    const text = `version: 1\n${file}`;
    expect(await apply(project, text, "--delete")).toMatchObject({ exitCode: 0 });
    expect(await plan(project, text)).toMatchObject({ exitCode: 0, out: "no differences\n" });
  }
  return project;
}

const RULED_CAMPAIGN = `
validation_rules:
  ten: {rules: {"1": {name: order.amount, conditions: {$more_than: [10]}}}}
campaigns:
  Summer:
    campaign_type: DISCOUNT_COUPONS
    validation_rules: [$ref:validation_rules/ten]
    voucher: {type: DISCOUNT_VOUCHER, discount: {type: AMOUNT, amount_off: 5}}
`;

test("deletes a campaign together with its validation rule", async () => {
  const project = await applyAll(RULED_CAMPAIGN, "validation_rules: {}\ncampaigns: {}\n");
  expect(await exported(project)).toContain("validation_rules: {}\ncampaigns: {}\n");
});

test("attaches the deleted rule again when the file is rejected afterwards", async () => {
  const project = await applyAll(RULED_CAMPAIGN);
  const before = await exported(project);
  const rejected = `version: 1
validation_rules: {}
campaigns:
  Winter:
    campaign_type: DISCOUNT_COUPONS
    voucher: {type: DISCOUNT_VOUCHER, discount: {type: AMOUNT, amount_off: 5, amount_of: 5}}
`;
  expect(await apply(project, rejected, "--delete")).toMatchObject({
    errors: expect.stringMatching(/- validation_rules\/ten[^]*All changes were undone\./),
  });
  expect(await exported(project)).toBe(before);
});

test("undoes the creation of a campaign and its validation rule", async () => {
  const project = await createProject(installation.env);
  const before = await exported(project);
  const misspelt = RULED_CAMPAIGN.replace("amount_off: 5", "amount_off: 5, amount_of: 5");
  expect(await apply(project, `version: 1\n${misspelt}`)).toMatchObject({
    errors: expect.stringContaining("All changes were undone."),
  });
  expect(await exported(project)).toBe(before);
});

test("creates and deletes metadata schemas in the order in which they contain each other", async () => {
  const schemas = `
metadata_schemas:
  order: {properties: {place: {type: nested, object_type: places}}}
  places: {properties: {city: {type: string}}}
`;
  const project = await applyAll(schemas);
  const text = await exported(project);
  const copy = await applyAll(text.replace("version: 1\n", ""), "metadata_schemas: {}\n");
  expect(await exported(copy)).toContain("metadata_schemas: {}\n");
});

test("moves the automatic redemption of a program to another reward", async () => {
  const program = (automatic: string, manual: string) => `
campaigns:
  Gifts: {campaign_type: GIFT_VOUCHERS, voucher: {type: GIFT_VOUCHER, gift: {amount: 100}}}
  Club: {campaign_type: LOYALTY_PROGRAM, voucher: {type: LOYALTY_CARD, loyalty_card: {points: 0}}}
rewards:
  ${automatic}: {type: CAMPAIGN, parameters: {campaign: {id: $ref:campaigns/Gifts, balance: 5}}}
  ${manual}: {type: CAMPAIGN, parameters: {campaign: {id: $ref:campaigns/Gifts, balance: 5}}}
reward_assignments:
  ${automatic}: {Club: {parameters: {loyalty: {points: 5, auto_redeem: true}}}}
  ${manual}: {Club: {parameters: {loyalty: {points: 5, auto_redeem: false}}}}
`;
  const steps = [program("second", "first"), program("first", "second"), program("third", "first")];
  expect(await exported(await applyAll(...steps))).toMatch(
    /  first:[^]*auto_redeem: false[^]*  third:[^]*auto_redeem: true/,
  );
});

test("replaces a loyalty tier and the earning rule that it triggers", async () => {
  const program = (tier: string) => `
campaigns:
  Club: {campaign_type: LOYALTY_PROGRAM, voucher: {type: LOYALTY_CARD, loyalty_card: {points: 0}}}
earning_rules:
  Club:
    welcome to ${tier}:
      event: customer.loyalty.tier.joined
      loyalty_tier: {id: $ref:loyalty_tiers/Club/${tier}}
      loyalty: {type: FIXED, points: 1}
loyalty_tiers:
  Club: {${tier}: {points: {from: 0}}}
`;
  const project = await applyAll(program("Gold"), program("Platinum"));
  expect(await exported(project)).not.toContain("Gold");
});

test("changes a part of the voucher of a campaign", async () => {
  const text = "campaigns: {Summer: {voucher: {discount: {amount_off: 7}}}}\n";
  const project = await applyAll(RULED_CAMPAIGN, text);
  expect(await exported(project)).toContain("amount_off: 7\n        type: AMOUNT\n");
  const fixed = text.replace("discount: {amount_off: 7}", "code_config: null");
  expect(await plan(project, `version: 1\n${fixed}`)).toMatchObject({
    exitCode: 2,
    errors: expect.stringContaining("voucher.code_config cannot change"),
  });
});

test.each([
  ["aliases", "version: 1\ncategories: {a: &x {hierarchy: 1}, b: *x}\n", "Alias"],
  [
    "bytes that are not UTF-8",
    Buffer.from("version: 1\ncategories: {\xe9: {}}\n", "latin1"),
    "UTF-8",
  ],
])("rejects %s as invalid usage", async (_, text, error) => {
  const project = await createProject(installation.env);
  expect(await plan(project, text)).toMatchObject({
    exitCode: 2,
    out: "",
    errors: expect.stringMatching(new RegExp(`^scrip: \\S+\\.yaml.*${error}`)),
  });
});

test("keeps false and empty values of metadata, and empty operands of conditions", async () => {
  const campaign = (metadata: string) => `
segments:
  known: {type: passive, filter: {junction: and, email: {conditions: {$has_value: []}}}}
campaigns:
  Spring: {campaign_type: PROMOTION, metadata: ${metadata}}
`;
  const project = await applyAll(campaign("{a: 1}"), campaign("{a: 1, b: false, c: []}"));
  const text = await exported(project);
  expect(text).toContain("      a: 1\n      b: false\n      c: []\n");
  const copy = await applyAll(text.replace("version: 1\n", ""));
  expect(await exported(copy)).toBe(text);
});
