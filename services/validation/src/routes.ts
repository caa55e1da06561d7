import { keyedHandlers } from "@scrip/idempotency";
import { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import { ValidationExportService } from "@scrip/proto/scrip/validation/v1/exports_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import type { Implementation } from "@scrip/rpc";

import { bindToRequest, type Deps } from "./deps.ts";
import { RESOURCE_CHANGES } from "./events/resource-changes.ts";
import { assignRules } from "./handlers/assign-rules.ts";
import { checkOrders } from "./handlers/check-orders.ts";
import { createAssignment } from "./handlers/create-assignment.ts";
import { createOrder } from "./handlers/create-order.ts";
import { createProductCollection } from "./handlers/create-product-collection.ts";
import { createProduct } from "./handlers/create-product.ts";
import { createSku } from "./handlers/create-sku.ts";
import { createStackingRules } from "./handlers/create-stacking-rules.ts";
import { createValidationRule } from "./handlers/create-validation-rule.ts";
import { deleteAssignment } from "./handlers/delete-assignment.ts";
import { deleteProductCollection } from "./handlers/delete-product-collection.ts";
import { deleteProduct } from "./handlers/delete-product.ts";
import { deleteSku } from "./handlers/delete-sku.ts";
import { deleteStackingRules } from "./handlers/delete-stacking-rules.ts";
import { deleteValidationRule } from "./handlers/delete-validation-rule.ts";
import { estimatePoints } from "./handlers/estimate-points.ts";
import { exportRows } from "./handlers/export-rows.ts";
import { getOrder } from "./handlers/get-order.ts";
import { getProductCollection } from "./handlers/get-product-collection.ts";
import { getProduct } from "./handlers/get-product.ts";
import { getSku } from "./handlers/get-sku.ts";
import { getStackingRules } from "./handlers/get-stacking-rules.ts";
import { getValidationRule } from "./handlers/get-validation-rule.ts";
import { importOrders } from "./handlers/import-orders.ts";
import { importProducts } from "./handlers/import-products.ts";
import { importSkus } from "./handlers/import-skus.ts";
import { listAssignments } from "./handlers/list-assignments.ts";
import { listCollectionProducts } from "./handlers/list-collection-products.ts";
import { listOrders } from "./handlers/list-orders.ts";
import { listProductCollections } from "./handlers/list-product-collections.ts";
import { listProducts } from "./handlers/list-products.ts";
import { listRuleAssignments } from "./handlers/list-rule-assignments.ts";
import { listRulesReferencing } from "./handlers/list-rules-referencing.ts";
import { listSkus } from "./handlers/list-skus.ts";
import { listStackingRules } from "./handlers/list-stacking-rules.ts";
import { listValidationRules } from "./handlers/list-validation-rules.ts";
import { purgeBinnedEntry } from "./handlers/purge-binned-entry.ts";
import { qualifyCampaigns } from "./handlers/qualify-campaigns.ts";
import { qualifyVouchers } from "./handlers/qualify-vouchers.ts";
import { qualify } from "./handlers/qualify.ts";
import { redeemCode } from "./handlers/redeem-code.ts";
import { redeemMemberReward } from "./handlers/redeem-member-reward.ts";
import { redeemPromotionTier } from "./handlers/redeem-promotion-tier.ts";
import { redeemVoucher } from "./handlers/redeem-voucher.ts";
import { redeem } from "./handlers/redeem.ts";
import { resolveAssignments } from "./handlers/resolve-assignments.ts";
import { resolveUnits } from "./handlers/resolve-units.ts";
import { revokeRules } from "./handlers/revoke-rules.ts";
import { rollbackRedemption } from "./handlers/rollback-redemption.ts";
import { rollbackRedemptions } from "./handlers/rollback-redemptions.ts";
import { updateOrder } from "./handlers/update-order.ts";
import { updateProduct } from "./handlers/update-product.ts";
import { updateSku } from "./handlers/update-sku.ts";
import { updateStackingRules } from "./handlers/update-stacking-rules.ts";
import { updateValidationRule } from "./handlers/update-validation-rule.ts";
import { validateCode } from "./handlers/validate-code.ts";
import { validatePromotionTier } from "./handlers/validate-promotion-tier.ts";
import { validatePromotions } from "./handlers/validate-promotions.ts";
import { validateVoucher } from "./handlers/validate-voucher.ts";
import { validate } from "./handlers/validate.ts";
import { queuedEdits } from "./order/queued-edits.ts";

/** All RPCs of this service: one line and one file each. */
export const routes = (deps: Deps): readonly Implementation[] => {
  const implement = keyedHandlers(deps, bindToRequest, RESOURCE_CHANGES);
  return [
    implement(
      ValidationService,
      {
        validateVoucher,
        validate,
        validateCode,
        redeemVoucher,
        redeemMemberReward,
        redeemCode,
        redeem,
        redeemPromotionTier,
        validatePromotionTier,
        validatePromotions,
        rollbackRedemption,
        rollbackRedemptions,
      },
      {
        validateVoucher: "repeatable",
        validate: "repeatable",
        validatePromotionTier: "repeatable",
        validatePromotions: "repeatable",
      },
    ),
    implement(
      QualificationService,
      { qualify, qualifyVouchers, qualifyCampaigns, estimatePoints },
      {
        qualify: "repeatable",
        qualifyVouchers: "repeatable",
        qualifyCampaigns: "repeatable",
        estimatePoints: "repeatable",
      },
    ),
    queuedEdits(
      deps.orderQueue,
      implement(OrderService, {
        createOrder,
        listOrders,
        getOrder,
        updateOrder,
      }),
    ),
    ...catalogueRoutes(implement),
    ruleRoutes(implement),
    implement(ValidationExportService, { exportRows }),
    implement(StackingRulesService, {
      createStackingRules,
      listStackingRules,
      getStackingRules,
      updateStackingRules,
      deleteStackingRules,
    }),
  ];
};

type Implement = ReturnType<typeof keyedHandlers<Deps>>;

const catalogueRoutes = (implement: Implement): readonly Implementation[] => [
  implement(ProductService, {
    createProduct,
    listProducts,
    getProduct,
    updateProduct,
    deleteProduct,
    createSku,
    listSkus,
    getSku,
    updateSku,
    deleteSku,
    purgeBinnedEntry,
    resolveUnits,
  }),
  implement(
    CatalogueImportService,
    { importProducts, importSkus, checkOrders, importOrders },
    { importProducts: "transaction", importSkus: "transaction", importOrders: "transaction" },
  ),
  implement(ProductCollectionService, {
    createProductCollection,
    listProductCollections,
    getProductCollection,
    deleteProductCollection,
    listCollectionProducts,
  }),
];

const ruleRoutes = (implement: Implement): Implementation =>
  implement(ValidationRuleService, {
    createValidationRule,
    listValidationRules,
    getValidationRule,
    updateValidationRule,
    deleteValidationRule,
    createAssignment,
    deleteAssignment,
    listRuleAssignments,
    listAssignments,
    assignRules,
    revokeRules,
    listRulesReferencing,
    resolveAssignments,
  });
