import { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import { ValidationExportService } from "@scrip/proto/scrip/validation/v1/exports_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import type { Callers } from "@scrip/rpc";

/** What other services of Scrip may call here. The gateway may also call the public RPCs. */
export const CALLERS: Callers = {
  gateway: [
    ProductService.method.resolveUnits,
    ValidationRuleService.method.assignRules,
    ValidationRuleService.method.listRulesReferencing,
    ValidationRuleService.method.resolveAssignments,
    ValidationRuleService.method.revokeRules,
  ],
  export: [
    CatalogueImportService.method.checkOrders,
    CatalogueImportService.method.importOrders,
    CatalogueImportService.method.importProducts,
    CatalogueImportService.method.importSkus,
    ProductService.method.purgeBinnedEntry,
    ProductService.method.resolveUnits,
    ValidationExportService.method.exportRows,
    ValidationRuleService.method.resolveAssignments,
  ],
};
