import {
  type CompiledPredicate,
  compilePredicate,
  readTree,
  type RecordFields,
} from "@scrip/filters";

import { type PageCursor } from "./page-cursor.ts";

/** A possible redeemable, as filters and sorting read it. docs/qualification.md#filters */
export type Candidate = {
  readonly object: "voucher" | "promotion_tier" | "promotion_stack";
  /** As in a request; a voucher's code. */
  readonly id: string;
  readonly resourceId: string;
  readonly createdAt: number;
  /** Categories of the candidate and of its campaign. */
  readonly categoryIds: readonly string[];
  readonly campaignId: string | null;
  readonly campaignType: string | null;
  readonly voucherType: string | null;
  readonly isPublishedToCustomer: boolean;
};

/** The candidate's position in the order of creation. */
export const cursorOf = ({
  createdAt,
  resourceId,
}: Candidate): PageCursor & { readonly idSuffix: string } => ({
  createdAt: createdAt,
  idSuffix: resourceId.slice(resourceId.lastIndexOf("_") + 1),
});

const text = (read: (candidate: Candidate) => string | null) => ({ type: "text", read }) as const;

/** The same fields as the columns that the voucher service filters by. */
const fieldsFor = (keyOf: (code: string) => string): RecordFields<Candidate> => ({
  named: {
    category_id: { type: "array", read: ({ categoryIds }) => nullIfEmpty(categoryIds) },
    campaign_id: text(({ campaignId }) => campaignId),
    campaign_type: text(({ campaignType }) => campaignType),
    resource_id: { type: "array", read: ({ resourceId, id }) => [resourceId, id] },
    resource_type: text(({ object }) => object),
    voucher_type: text(({ voucherType }) => voucherType),
    code: {
      ...text(({ object, id }) => (object === "voucher" ? keyOf(id) : null)),
      keyOf,
    },
    holder_role: text(({ isPublishedToCustomer: isHeld }) => (isHeld ? "OWNER" : null)),
  },
});

const nullIfEmpty = (ids: readonly string[]): readonly string[] | null =>
  ids.length === 0 ? null : ids;

const exactFields = fieldsFor((code) => code);
const foldedFields = fieldsFor((code) => code.toLowerCase());

/** Codes ignore the letter case where the project does. */
export const candidateFilter = (
  filters: unknown,
  { caseSensitiveCodes }: { readonly caseSensitiveCodes: boolean },
): CompiledPredicate<Candidate> =>
  compilePredicate(filters, caseSensitiveCodes ? exactFields : foldedFields);

type Filters = Readonly<Record<string, unknown>>;

/**
 * The part of the filters that the voucher service can evaluate: all but categories, which
 * campaigns have as well. It may return more candidates than the filters, never fewer.
 */
export function voucherFilters(filters: Filters): Filters {
  const { category_id: category, ...others } = filters;
  if (category === undefined) return filters;
  return isAlternative(filters) ? {} : others;
}

const isAlternative = ({ junction }: Filters): boolean =>
  typeof junction === "string" && junction.toLowerCase() === "or";

/** The codes or ids to which valid filters restrict vouchers; null without a restriction. */
export function requestedVouchers(filters: Filters): readonly string[] | null {
  const { junction, fields } = readTree(filters);
  if (junction === "or") return null;
  for (const name of ["code", "resource_id"]) {
    const conditions = fields.find((field) => field.name === name)?.conditions;
    const found = conditions?.find(({ operator }) => operator === "$is" || operator === "$in");
    if (found !== undefined) return found.operands.map(String);
  }
  return null;
}
