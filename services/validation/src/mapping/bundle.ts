import type { Bundle } from "@scrip/proto/scrip/validation/v1/validations_pb";

import type { BundleResult } from "../domain/bundles/bundle-result.ts";

export const bundleToProto = ({ quantity, limit, identified, missing }: BundleResult): Bundle => ({
  $typeName: "scrip.validation.v1.Bundle",
  quantity,
  limit,
  identified: identified.map((item) => ({ $typeName: "scrip.validation.v1.BundleItem", ...item })),
  missing: missing.map((item) => ({ $typeName: "scrip.validation.v1.MissingBundleItem", ...item })),
});
