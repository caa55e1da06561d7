import {
  create,
  type DescMessage,
  type JsonObject,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { Schemas } from "@scrip/metadata";
import {
  CreateCampaignRequestSchema,
  UpdateCampaignRequestSchema,
} from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CreatePromotionTierRequestSchema } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { GetProjectRequestSchema } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { ValidateRequestSchema } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { describe, expect, test } from "vitest";

import { enforceMetadataSchemas } from "./enforce-metadata-schema.ts";
import { planMetadata } from "./metadata-plan.ts";

/** Each resource has one required key of type number. */
const demanding = (...resources: readonly string[]): Schemas =>
  new Map(
    resources.map((relatedObject) => [
      relatedObject,
      {
        id: "ms_1",
        relatedObject,
        properties: {
          [relatedObject]: { type: "number", array: false, optional: false, deleted: false },
        },
        allowDefinedOnly: false,
        createdAt: new Date(0),
        updatedAt: null,
      },
    ]),
  );

function rejected<Desc extends DescMessage>(
  desc: Desc,
  init: MessageInitShape<Desc>,
  schemas: Schemas,
  usesInstead?: boolean,
): string | undefined {
  const plan = planMetadata(desc);
  if (plan === undefined) throw new Error(`${desc.typeName} holds no metadata`);
  try {
    enforceMetadataSchemas(plan, create(desc, init), schemas, usesInstead);
    return undefined;
  } catch (error) {
    return (error as { options: { details: string } }).options.details;
  }
}

test("requests without metadata have no plan", () => {
  expect(planMetadata(GetProjectRequestSchema)).toBeUndefined();
});

describe("the metadata of a campaign", () => {
  const both = demanding("campaign", "voucher");
  const made = (metadata: JsonObject, useVoucherMetadataSchema?: boolean): string | undefined =>
    rejected(
      CreateCampaignRequestSchema,
      { metadata, ...(useVoucherMetadataSchema !== undefined && { useVoucherMetadataSchema }) },
      both,
    );

  test("must match the schema of campaigns, or of vouchers with use_voucher_metadata_schema", () => {
    expect(made({ campaign: 1 })).toBeUndefined();
    expect(made({ campaign: 1 }, false)).toBeUndefined();
    expect(made({ campaign: 1 }, true)).toBe("voucher: must be present");
    expect(made({ voucher: 1 }, true)).toBeUndefined();
    expect(made({ voucher: 1 })).toBe("campaign: must be present");
  });

  test("must match the schema of the stored campaign on updates", () => {
    const changed = (metadata: JsonObject, usesInstead: boolean): string | undefined =>
      rejected(UpdateCampaignRequestSchema, { metadata }, both, usesInstead);
    const wrong = (key: string) => `${key}: must be a number (actual value is 'x')`;
    expect(changed({ campaign: "x", voucher: 1 }, true)).toBeUndefined();
    expect(changed({ campaign: "x", voucher: 1 }, false)).toBe(wrong("campaign"));
    expect(changed({ campaign: 1, voucher: "x" }, false)).toBeUndefined();
    expect(changed({ campaign: 1, voucher: "x" }, true)).toBe(wrong("voucher"));
    expect(rejected(UpdateCampaignRequestSchema, {}, both)).toBeUndefined();
  });
});

test("a promotion tier must have its required keys even without metadata", () => {
  const schemas = demanding("promotion_tier");
  expect(rejected(CreatePromotionTierRequestSchema, {}, schemas)).toBe(
    "promotion_tier: must be present",
  );
});

test("a reference to a stored order may omit required keys, its lines may not", () => {
  const schemas = demanding("order", "order_item", "customer");
  const line = { metadata: { order_item: 1 } };
  const order = (init: object): string | undefined =>
    rejected(ValidateRequestSchema, { order: init, customer: { sourceId: "ann" } }, schemas);
  expect(order({ items: [line] })).toBe("order: must be present");
  expect(order({ id: "ord_1", items: [line] })).toBeUndefined();
  expect(order({ sourceId: "1", items: [line, {}] })).toBe("order_item: must be present");
});

test("lists 20 faults and counts the rest", () => {
  const items = Array.from({ length: 30 }, () => ({}));
  const details = rejected(ValidateRequestSchema, { order: { items } }, demanding("order_item"));
  expect(details).toMatch(/^(order_item: must be present, ){20}and 10 more$/);
});
