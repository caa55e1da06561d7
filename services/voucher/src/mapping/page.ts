import { Refusal } from "@scrip/errors";

export type Page = { readonly limit: number; readonly offset: number };

export type PageLimits = {
  readonly maxPage: number;
  /** What a page above is refused with. */
  readonly overMaxPage: "invalid_query_params" | "page_over_limit";
};

const DEFAULT_LIMIT = 10n;
const MAX_LIMIT = 100;

/** Where a page begins (spec/campaigns-loyalty-platform.md §3). */
export function pageOf(
  request: { readonly limit?: bigint | undefined; readonly page?: bigint | undefined },
  limits: PageLimits,
): Page {
  const limit = Number(request.limit ?? DEFAULT_LIMIT);
  const page = Number(request.page ?? 1n);
  if (limit < 1) throw invalid("Property .limit cannot be lower than 1");
  if (limit > MAX_LIMIT) throw invalid(`Property .limit cannot be higher than ${MAX_LIMIT}`);
  if (page < 1) throw invalid("Property .page cannot be lower than 1");
  if (page > limits.maxPage) {
    throw new Refusal(limits.overMaxPage, {
      details: `Property .page cannot be higher than ${limits.maxPage}`,
    });
  }
  return { limit, offset: (page - 1) * limit };
}

const invalid = (details: string): Refusal => new Refusal("invalid_query_params", { details });
