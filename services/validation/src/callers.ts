import type { Callers } from "@scrip/rpc";

/** Who of Scrip's services may call the RPCs of each group, besides the public ones, which the gateway may call. */
export const CALLERS: Callers = {
  "scrip.validation.v1.CatalogueImportService": ["export"],
  "scrip.validation.v1.ProductService": ["gateway", "export"],
  "scrip.validation.v1.ValidationExportService": ["export"],
  "scrip.validation.v1.ValidationRuleService": ["gateway", "export"],
};
