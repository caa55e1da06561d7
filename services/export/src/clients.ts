import type { Transport } from "@connectrpc/connect";
import { CampaignJobService } from "@scrip/proto/scrip/campaign/v1/campaign_jobs_pb";
import { CampaignService } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CategoryService } from "@scrip/proto/scrip/campaign/v1/categories_pb";
import { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import { CampaignImportService } from "@scrip/proto/scrip/campaign/v1/voucher_imports_pb";
import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { CustomerImportService } from "@scrip/proto/scrip/loyalty/v1/customer_imports_pb";
import { CustomerService } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { LoyaltyExportService } from "@scrip/proto/scrip/loyalty/v1/exports_pb";
import { CatalogueImportService } from "@scrip/proto/scrip/validation/v1/catalogue_imports_pb";
import { ValidationExportService } from "@scrip/proto/scrip/validation/v1/exports_pb";
import { ProductService } from "@scrip/proto/scrip/validation/v1/products_pb";
import { ValidationRuleService } from "@scrip/proto/scrip/validation/v1/rules_pb";
import { VoucherExportService } from "@scrip/proto/scrip/voucher/v1/exports_pb";
import { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionService } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { TransactionService } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
import { VoucherImportService } from "@scrip/proto/scrip/voucher/v1/voucher_imports_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { clientOf } from "@scrip/rpc";

/** The services that export calls. */
export type Transports = Readonly<
  Record<"validation" | "campaign" | "voucher" | "loyalty", Transport>
>;

export type Clients = ReturnType<typeof createClients>;

/** Clients of the services that export calls. */
export const createClients = ({ validation, campaign, voucher, loyalty }: Transports) => ({
  campaigns: clientOf(CampaignService, campaign),
  categories: clientOf(CategoryService, campaign),
  campaignJobs: clientOf(CampaignJobService, campaign),
  bin: clientOf(TrashBinService, campaign),
  vouchers: clientOf(VoucherService, voucher),
  redemptions: clientOf(RedemptionService, voucher),
  holdings: clientOf(PublicationService, voucher),
  transactions: clientOf(TransactionService, voucher),
  customers: clientOf(CustomerService, loyalty),
  cards: clientOf(CardService, loyalty),
  rules: clientOf(ValidationRuleService, validation),
  /** The rows of exports, by their owner. */
  rows: {
    validation: clientOf(ValidationExportService, validation),
    voucher: clientOf(VoucherExportService, voucher),
    loyalty: clientOf(LoyaltyExportService, loyalty),
  },
  campaignImports: clientOf(CampaignImportService, campaign),
  voucherImports: clientOf(VoucherImportService, voucher),
  customerImports: clientOf(CustomerImportService, loyalty),
  products: clientOf(ProductService, validation),
  catalogueImports: clientOf(CatalogueImportService, validation),
});
