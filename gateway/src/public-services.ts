import type { DescService } from "@bufbuild/protobuf";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { LoyaltyProgramService } from "@scrip/proto/scrip/campaign/v1/loyalty_programs_pb";
import { PromotionService } from "@scrip/proto/scrip/campaign/v1/promotions_pb";
import { ReferralTierService } from "@scrip/proto/scrip/campaign/v1/referral_tiers_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { AsyncActionService } from "@scrip/proto/scrip/export/v1/async_actions_pb";
import { AuditLogService } from "@scrip/proto/scrip/export/v1/audit_log_pb";
import { CampaignActionService } from "@scrip/proto/scrip/export/v1/campaign_actions_pb";
import { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import { ImportService } from "@scrip/proto/scrip/export/v1/imports_pb";
import { WebhookService } from "@scrip/proto/scrip/export/v1/webhooks_pb";
import { MetadataSchemaService } from "@scrip/proto/scrip/gateway/v1/metadata_schemas_pb";
import { ProjectService } from "@scrip/proto/scrip/gateway/v1/projects_pb";
import { TokenService } from "@scrip/proto/scrip/gateway/v1/tokens_pb";
import { ActivityService } from "@scrip/proto/scrip/loyalty/v1/activities_pb";
import { CustomEventService } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { EarningRuleService } from "@scrip/proto/scrip/loyalty/v1/earning_rules_pb";
import { LiabilityService } from "@scrip/proto/scrip/loyalty/v1/liability_pb";
import { PendingPointsService } from "@scrip/proto/scrip/loyalty/v1/pending_points_pb";
import { RewardService } from "@scrip/proto/scrip/loyalty/v1/rewards_pb";
import { SegmentService } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { LoyaltyTierService } from "@scrip/proto/scrip/loyalty/v1/tiers_pb";
import { ProductCollectionService } from "@scrip/proto/scrip/validation/v1/collections_pb";
import { OrderService } from "@scrip/proto/scrip/validation/v1/orders_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { StackingRulesService } from "@scrip/proto/scrip/validation/v1/stacking_rules_pb";
import { ValidationService } from "@scrip/proto/scrip/validation/v1/validations_pb";
import { MemberService } from "@scrip/proto/scrip/voucher/v1/members_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { ReferralService } from "@scrip/proto/scrip/voucher/v1/referrals_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

/** Services with public endpoints. Access options in the contract say which RPCs are public. */
export const publicServices: readonly DescService[] = [
  TokenService,
  ProjectService,
  MetadataSchemaService,
  VoucherService,
  RedemptionService,
  PublicationService,
  ReferralService,
  TransactionService,
  MemberService,
  CategoryService,
  CampaignService,
  LoyaltyProgramService,
  PromotionService,
  ReferralTierService,
  CustomerService,
  CustomEventService,
  SegmentService,
  RewardService,
  EarningRuleService,
  ActivityService,
  LiabilityService,
  PendingPointsService,
  LoyaltyTierService,
  ValidationService,
  QualificationService,
  OrderService,
  ProductService,
  ProductCollectionService,
  StackingRulesService,
  ValidationRuleService,
  AsyncActionService,
  AuditLogService,
  WebhookService,
  ExportService,
  CampaignActionService,
  TrashBinService,
  ImportService,
];

/** Implemented by the gateway itself. */
export const ownServices: readonly DescService[] = [
  TokenService,
  ProjectService,
  MetadataSchemaService,
];
