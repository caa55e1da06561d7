import { readFile } from "node:fs/promises";
import path from "node:path";

import { expect, test } from "vitest";

import type { Environment } from "../src/settings.ts";
import {
  createProject as createEmptyProject,
  type Project,
  startConfig,
} from "./config-commands.ts";
import { scrip } from "./installation.ts";
import { startProxy } from "./proxy.ts";

const { installation, apply, plan, exported } = await startConfig();

const CONFIG = `version: 1
settings:
  timezone: Europe/Warsaw
metadata_schemas:
  voucher:
    properties:
      season: {type: string, optional: true}
custom_event_schemas:
  review:
    properties:
      stars: {type: number}
categories:
  summer: {hierarchy: 1}
segments:
  vips:
    type: auto-update
    filter: {junction: and, metadata.vip: {conditions: {$is: [true]}}}
product_collections:
  tops:
    type: STATIC
    products: [{object: product, id: $ref:products/shirt}]
validation_rules:
  at least ten:
    type: expression
    context_type: voucher.discount_voucher
    rules:
      "1": {name: order.amount, conditions: {$more_than_or_equal: [1000]}}
      "2": {name: customer.segment, conditions: {$is: [$ref:segments/vips]}}
      logic: 1 and 2
    applicable_to:
      included: [{object: products_collection, id: $ref:product_collections/tops}]
campaigns:
  Summer:
    campaign_type: DISCOUNT_COUPONS
    type: AUTO_UPDATE
    category_id: $ref:categories/summer
    start_date: 2026-06-01T00:00:00Z
    validation_rules: [$ref:validation_rules/at least ten]
    metadata: {season: summer}
    voucher:
      type: DISCOUNT_VOUCHER
      discount: {type: PERCENT, percent_off: 10}
      redemption: {quantity: 1}
      code_config: {pattern: "S-####"}
  Winter:
    campaign_type: DISCOUNT_COUPONS
    type: STANDALONE
    voucher: {type: DISCOUNT_VOUCHER, code: WINTER, discount: {type: PERCENT, percent_off: 10}}
  Spring: {campaign_type: PROMOTION}
  Club:
    campaign_type: LOYALTY_PROGRAM
    voucher: {type: LOYALTY_CARD, loyalty_card: {points: 5}}
  Friends:
    campaign_type: REFERRAL_PROGRAM
    voucher: {type: DISCOUNT_VOUCHER, discount: {type: AMOUNT, amount_off: 500}}
    referral_program:
      conversion_event_type: custom_event
      custom_event: {id: $ref:custom_event_schemas/review}
      referrer_reward:
        related_object_parent: {id: $ref:campaigns/Club}
        type: LOYALTY_CARD
        amount: 10
promotion_tiers:
  Spring:
    shirts:
      hierarchy: 1
      action: {discount: {type: UNIT, effect: ADD_NEW_ITEMS, unit_off: 1, unit_type: $ref:products/shirt}}
promotion_stacks:
  Spring:
    both: {tiers: {ids: [$ref:promotion_tiers/Spring/shirts]}}
rewards:
  ten off: {type: COIN, parameters: {coin: {exchange_ratio: 1, points_ratio: 10}}}
reward_assignments:
  ten off:
    Club: {}
earning_rules:
  Club:
    review:
      event: review
      custom_event: {schema_id: $ref:custom_event_schemas/review}
      loyalty: {type: FIXED, points: 20}
    Two points for each shirt:
      event: order.paid
      active: false
      loyalty:
        type: PROPORTIONAL
        calculation_type: ORDER_ITEMS_QUANTITY
        order_items: {quantity: {every: 1, points: 2, object: product, id: $ref:products/shirt}}
      pending_points: {period_type: DAY, period_value: 14}
      metadata: {season: summer}
loyalty_tiers:
  Club:
    Silver:
      points: {from: 0, to: 99}
      earning_rules: {$ref:earning_rules/Club/review: {type: MULTIPLY, multiplier: 2}}
    Gold:
      points: {from: 100}
      metadata: {season: summer}
referral_tiers:
  Friends:
    five friends:
      condition: {type: MINIMUM_UNIQUE_REFEREES, count: 5}
      segment_id: $ref:segments/vips
      reward: {related_object_parent: {id: $ref:campaigns/Club}, type: LOYALTY_CARD, amount: 100}
stacking_rules:
  exclusive_categories: [$ref:categories/summer]
`;

/** A project with the product that the configuration refers to. */
async function createProject(): Promise<Project> {
  const project = await createEmptyProject(installation.env);
  await call(project.env, "POST", "/v1/products", { source_id: "shirt", name: "Shirt" });
  return project;
}

// Responses of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
async function call(env: Environment, method: string, url: string, body?: object): Promise<any> {
  const { out } = await scrip(env, "token");
  const response = await fetch(`${installation.url}${url}`, {
    method,
    headers: {
      "X-App-Id": env["SCRIP_APP_ID"] ?? "",
      "X-App-Token": env["SCRIP_APP_TOKEN"] ?? "",
      Authorization: `Bearer ${out.trim()}`,
      "Content-Type": "application/json",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(response.ok).toBe(true);
  return response.status === 204 ? undefined : response.json();
}

const applied = await createProject();
const first = await apply(applied, CONFIG);

test("applies a file to an empty project, and changes nothing the second time", async () => {
  expect(first).toMatchObject({
    exitCode: 0,
    errors: expect.stringContaining("+ campaigns/Summer"),
    out: "22 changes applied\n",
  });
  expect(await apply(applied, CONFIG)).toMatchObject({ exitCode: 0, out: "nothing to change\n" });
  expect(await plan(applied, CONFIG)).toMatchObject({ exitCode: 0, out: "no differences\n" });
  const { campaigns } = await call(applied.env, "GET", "/v1/campaigns");
  expect(campaigns.map((each: { name: string }) => each.name).toSorted()).toEqual([
    "Club",
    "Friends",
    "Spring",
    "Summer",
    "Winter",
  ]);
});

test("plans and applies the example of the documentation in a new project", async () => {
  const page = await readFile(
    path.join(import.meta.dirname, "../../docs/configuration-files.md"),
    "utf8",
  );
  const [, example = ""] = /```yaml\n([^]*?)```/.exec(page) ?? [];
  const project = await createProject();
  expect(await plan(project, example)).toMatchObject({
    exitCode: 1,
    out: expect.stringContaining("+ promotion_tiers/Spring/first tier"),
    errors: "scrip: the project differs from the file\n",
  });
  expect(await apply(project, example)).toMatchObject({ exitCode: 0 });
  expect(await plan(project, example)).toMatchObject({ exitCode: 0, out: "no differences\n" });
});

test("exports the same text from the project and from its copy", async () => {
  const text = await exported(applied);
  const copy = await createProject();
  expect(await apply(copy, text)).toMatchObject({ exitCode: 0 });
  expect(await exported(copy)).toBe(text);
  expect(text).not.toMatch(/_[0-9a-f]{18}/);
});

test("exports the id of a SKU that was deleted", async () => {
  const { id, env } = await createProject();
  const sku = await call(env, "POST", "/v1/products/shirt/skus", { source_id: "red" });
  const product = await call(env, "GET", "/v1/products/shirt");
  const parameters = { product: { id: product.id, sku_id: sku.id } };
  await call(env, "POST", "/v1/rewards", { name: "Red", type: "MATERIAL", parameters });
  await call(env, "DELETE", "/v1/products/shirt/skus/red");
  const text = await exported({ id, env });
  expect(text).toContain(`id: $ref:products/shirt\n        sku_id: ${sku.id}\n`);
  expect(await plan({ id, env }, text)).toMatchObject({ exitCode: 0 });
});

test("changes the rules, tiers and schemas of programs, and back", async () => {
  const before = await exported(applied);
  const changed = CONFIG.replace("stars: {type: number}", "text: {type: string, optional: true}")
    .replace("points: 20}", "points: 30}\n      validation_rule_id: $ref:validation_rules/reviews")
    .replace(
      "validation_rules:\n",
      "validation_rules:\n  reviews: {rules: {logic: '1', '1': {name: customer.segment, conditions: {$is: [$ref:segments/vips]}}}}\n",
    )
    .replace("active: false\n", "active: true\n")
    .replace(
      "points: 2, object: product, id: $ref:products/shirt",
      "points: 3, applicable_to: [{object: products_collection, id: $ref:product_collections/tops}]",
    )
    .replace("pending_points: {period_type: DAY, period_value: 14}", "pending_points: null")
    .replace("count: 5}", "count: 6}\n      active: false");
  expect(await apply(applied, changed)).toMatchObject({ exitCode: 0 });
  expect(await plan(applied, changed)).toMatchObject({ exitCode: 0 });
  const text = await exported(applied);
  expect(text).not.toContain("stars");
  expect(text).not.toContain("pending_points:");
  const back = before.replace("type: FIXED\n", "type: FIXED\n      validation_rule_id: null\n");
  expect(await apply(applied, back, "--delete")).toMatchObject({ exitCode: 0 });
  expect(await exported(applied)).toBe(before);
});

test("moves the ranges of loyalty tiers, in an order in which they never overlap", async () => {
  const before = await exported(applied);
  const up = CONFIG.replace("from: 0, to: 99", "from: 0, to: 199").replace(
    "Gold:\n      points: {from: 100}",
    "Gold:\n      points: {from: 300}\n    Bronze:\n      points: {from: 200, to: 299}",
  );
  expect(await apply(applied, up)).toMatchObject({
    exitCode: 0,
    errors: expect.not.stringContaining("scrip:"),
  });
  const rejected = CONFIG.replace("exchange_ratio: 1", "exchange_ratio: -1").replace(
    "from: 100",
    "from: 150",
  );
  expect(await apply(applied, rejected, "--delete")).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("All changes were undone."),
  });
  expect(await plan(applied, up)).toMatchObject({ exitCode: 0 });
  expect(await apply(applied, before, "--delete")).toMatchObject({ exitCode: 0 });
  expect(await exported(applied)).toBe(before);
});

test("plans and applies changes, and deletes only with --delete", async () => {
  const project = await createProject();
  await apply(project, CONFIG);
  const changed = CONFIG.replace("percent_off: 10", "percent_off: 15")
    .replace("metadata: {season: summer}", "active: false\n    metadata: {season: winter}")
    .replace(/promotion_stacks:\n.*\n.*\n/, "promotion_stacks: {}\n");
  const planned = await plan(project, changed);
  expect(planned).toMatchObject({ exitCode: 1 });
  expect(planned.out).toContain("    voucher.discount.percent_off: 10 -> 15\n");
  expect(planned.out).toContain("    active: true -> false\n");
  expect(planned.out).toContain("- promotion_stacks/Spring/both\n");
  expect(await apply(project, changed)).toMatchObject({ exitCode: 2 });
  expect(await plan(project, changed)).toMatchObject({ out: planned.out });
  expect(await apply(project, changed, "--delete")).toMatchObject({ exitCode: 0 });
  expect(await plan(project, changed)).toMatchObject({ exitCode: 0 });
  // Back again: the stack is created anew.
  expect(
    await apply(project, CONFIG.replace("metadata: {s", "active: true\n    metadata: {s")),
  ).toMatchObject({ exitCode: 0 });
});

test("undoes all changes when the API rejects one or ignores a field", async () => {
  const before = await exported(applied);
  const rejected = CONFIG.replace("percent_off: 10", "percent_off: 20")
    .replace("summer: {hierarchy: 1}", "summer: {hierarchy: 7}\n  winter: {hierarchy: 2}")
    .replace("exchange_ratio: 1", "exchange_ratio: -1");
  expect(await apply(applied, rejected)).toMatchObject({
    exitCode: 1,
    errors: expect.stringMatching(/exchange_ratio[^]*All changes were undone\./),
  });
  expect(await exported(applied)).toBe(before);
  const misspelt = CONFIG.replace("percent_off: 10", "percent_off: 20, amount_limt: 5");
  expect(await apply(applied, misspelt)).toMatchObject({
    exitCode: 1,
    errors: expect.stringMatching(/amount_limt[^]*All changes were undone\./),
  });
  expect(await exported(applied)).toBe(before);
});

test("undoes all changes when the response of any request is lost", async () => {
  const before = await exported(applied);
  const changed = CONFIG.replace("percent_off: 10", "percent_off: 20")
    .replace("metadata: {season: summer}", "active: false\n    metadata: {season: winter}")
    .replace("Spring: {", "Autumn: {active: false, campaign_type: PROMOTION}\n  Spring: {")
    .replace("stars: {type: number}", "text: {type: string}")
    .replace("count: 5}", "count: 6}\n      active: false")
    .replace(/promotion_stacks:\n.*\n.*\n/, "promotion_stacks: {}\n");
  await using proxy = await startProxy(installation.url);
  const project = { ...applied, env: { ...applied.env, SCRIP_BASE_URL: proxy.url } };
  let lost = 0;
  for (;;) {
    proxy.loseResponse(lost + 1);
    const result = await apply(project, changed, "--delete");
    if (result.exitCode === 0) break;
    expect(result.errors).toMatch(/does not respond[^]*All changes were undone\./);
    expect(await exported(applied)).toBe(before);
    lost += 1;
  }
  expect(lost).toBe(8);
  expect(await apply(applied, before, "--delete")).toMatchObject({ exitCode: 0 });
});

test.each([
  ["invalid YAML", "version: 1\ncategories: {a\n", "must be sufficiently indented"],
  ["an unknown section", "version: 1\nvouchers: {}\n", "vouchers is not a section"],
  ["an unknown field", "version: 1\nsettings: {tz: UTC}\n", "settings has an unknown field tz"],
  ["another version", "version: 2\n", "version must be 1"],
  ["a duplicate name", "version: 1\ncategories:\n  a: {}\n  a: {}\n", "unique"],
  [
    "a reference to nothing",
    "version: 1\nstacking_rules: {joint_categories: [$ref:categories/none]}\n",
    "stacking_rules refers to categories/none, which does not exist",
  ],
  [
    "a reference to a product that does not exist",
    "version: 1\nproduct_collections:\n  x: {type: STATIC, products: [{object: product, id: $ref:products/none}]}\n",
    "product_collections/x refers to products/none, which does not exist",
  ],
  [
    "a reference to a product without a name",
    "version: 1\nproduct_collections:\n  x: {type: STATIC, products: [{object: product, id: $ref:products/}]}\n",
    "product_collections/x refers to products/, which does not exist",
  ],
  [
    "a changed type of a campaign",
    "version: 1\ncampaigns:\n  Club: {campaign_type: PROMOTION}\n",
    "campaigns/Club: campaign_type cannot change",
  ],
])("rejects %s as invalid usage and prints no changes", async (_, text, error) => {
  const before = await exported(applied);
  for (const result of [await plan(applied, text), await apply(applied, text, "--delete")]) {
    expect(result).toMatchObject({ exitCode: 2, out: "" });
    expect(result.errors).toContain(error);
  }
  expect(await exported(applied)).toBe(before);
});

test("rejects the key of another project", async () => {
  const other = await createProject();
  expect(await scrip(other.env, "config", "export", applied.id)).toMatchObject({
    exitCode: 1,
    errors: expect.stringContaining("does not belong to the project"),
  });
});
