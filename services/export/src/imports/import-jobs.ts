import type { Clients } from "../clients.ts";
import type { AnyJobDefinition } from "../jobs/job-definition.ts";
import { importJob, type ImportJobDeps } from "./import-job.ts";
import type { ImportKind } from "./import-kind.ts";
import { customers } from "./kinds/customers.ts";
import { orders } from "./kinds/orders.ts";
import { products, skus } from "./kinds/products.ts";
import { voucherMetadata } from "./kinds/voucher-metadata.ts";
import { campaignVouchers, standaloneVouchers } from "./kinds/vouchers.ts";

export const createImportKinds = (clients: Clients) => ({
  campaignVouchers: campaignVouchers(clients),
  standaloneVouchers: standaloneVouchers(clients),
  voucherMetadata: voucherMetadata(clients),
  customers: customers(clients),
  products: products(clients),
  skus: skus(clients),
  orders: orders(clients),
});

export type ImportKinds = ReturnType<typeof createImportKinds>;

/** The kinds of items by type of async action. */
const kindsByType = (kinds: ImportKinds) => ({
  "CAMPAIGN.VOUCHERS_IMPORT": kinds.campaignVouchers,
  "CAMPAIGN.VOUCHERS_IMPORT_CSV": kinds.campaignVouchers,
  "VOUCHERS.IMPORT": kinds.standaloneVouchers,
  "VOUCHERS.IMPORT_CSV": kinds.standaloneVouchers,
  "CUSTOMERS.IMPORT_CSV": kinds.customers,
  "PRODUCTS.IMPORT_CSV": kinds.products,
  "SKUS.IMPORT_CSV": kinds.skus,
  "ORDERS.IMPORT": kinds.orders,
  "VOUCHERS.BULK_UPDATE": kinds.voucherMetadata,
  "VOUCHERS.METADATA_UPDATE": kinds.voucherMetadata,
  "CUSTOMERS.BULK_UPDATE": kinds.customers,
  "CUSTOMERS.METADATA_UPDATE": kinds.customers,
  "PRODUCTS.BULK_UPDATE": kinds.products,
  "PRODUCTS.METADATA_UPDATE": kinds.products,
});

export type ImportType = keyof ReturnType<typeof kindsByType>;

export const createImportJobs = (
  deps: ImportJobDeps & { readonly importKinds: ImportKinds },
): readonly AnyJobDefinition[] =>
  Object.entries(kindsByType(deps.importKinds)).map(([type, kind]) =>
    importJob(deps, {
      type,
      kind: kind as ImportKind,
      hasReport: hasReport(type),
      result: resultOf(type, kind.noun),
    }),
  );

/** Bulk updates report the outcome of each item; imports report only failures. */
export const hasReport = (type: string): boolean => !type.includes("IMPORT");

const resultOf =
  (type: string, noun: string): AnyJobDefinition["result"] =>
  ({ processed, failed }) => ({
    ...(!hasReport(type) && {
      message: `${processed} ${noun}(s) imported successfully, ${failed} failed.`,
    }),
    done_count: Number(processed),
    failed_count: Number(failed),
  });
