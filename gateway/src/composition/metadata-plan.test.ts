import type { DescMessage } from "@bufbuild/protobuf";
import { accessOf, ruleOf } from "@scrip/contract";
import { expect, test } from "vitest";

import { publicServices } from "../public-services.ts";

/**
 * Without metadata schemas (docs/metadata-schemas.md#definitions); custom events have schemas of their own, and jobs check the
 * items of imports one by one.
 */
const WITHOUT_SCHEMAS = new Set([
  "scrip.campaign.v1.CreatePromotionStackRequest",
  "scrip.campaign.v1.UpdatePromotionStackRequest",
  "scrip.export.v1.CustomerToUpdate",
  "scrip.export.v1.ProductToUpdate",
  "scrip.export.v1.BulkUpdateCustomersMetadataRequest",
  "scrip.export.v1.BulkUpdateProductsMetadataRequest",
  "scrip.export.v1.BulkUpdateVouchersMetadataRequest",
  "scrip.export.v1.VoucherToImport",
  "scrip.export.v1.VoucherToUpdate",
  "scrip.loyalty.v1.CreateCustomEventRequest",
]);

test("every metadata field of a public request names its resource", () => {
  const seen = new Set<DescMessage>();
  const unnamed = new Set<string>();
  const visit = (desc: DescMessage): void => {
    if (seen.has(desc)) return;
    seen.add(desc);
    for (const field of desc.fields) {
      const isMetadata =
        field.name === "metadata" && field.message?.typeName === "google.protobuf.Struct";
      if (isMetadata && ruleOf(field).metadata === undefined) unnamed.add(desc.typeName);
      if (field.message !== undefined) visit(field.message);
    }
  };
  for (const { methods } of publicServices) {
    for (const method of methods) if (accessOf(method) !== undefined) visit(method.input);
  }
  expect([...unnamed].filter((name) => !WITHOUT_SCHEMAS.has(name))).toEqual([]);
});
