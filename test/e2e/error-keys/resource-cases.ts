import { CAMPAIGN_CASES } from "./campaign-cases.ts";
import { CATALOGUE_CASES } from "./catalogue-cases.ts";
import type { ErrorCase } from "./error-case.ts";
import { EXPORT_CASES, IMPORT_CASES } from "./export-cases.ts";
import { LOYALTY_CASES } from "./loyalty-cases.ts";
import { MANAGEMENT_CASES } from "./management-cases.ts";
import { MEMBER_CASES } from "./member-cases.ts";
import { PUBLICATION_CASES } from "./publication-cases.ts";
import { REDEMPTION_CASES } from "./redemption-cases.ts";
import { VOUCHER_CASES } from "./voucher-cases.ts";

/** Keys with a cause of their own; `not_found`, metadata and rejected redeemables have generic cases. */
export const RESOURCE_CASES: readonly ErrorCase[] = [
  ...MANAGEMENT_CASES,
  ...VOUCHER_CASES,
  ...PUBLICATION_CASES,
  ...CAMPAIGN_CASES,
  ...LOYALTY_CASES,
  ...MEMBER_CASES,
  ...CATALOGUE_CASES,
  ...REDEMPTION_CASES,
  ...EXPORT_CASES,
  ...IMPORT_CASES,
];
