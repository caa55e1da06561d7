import { ApiError } from "@scrip/errors";
import { type Page, parsePage } from "@scrip/postgres";

export type PageBounds = {
  readonly maxPage: number;
  /** The key of the error for a page above `maxPage`. */
  readonly overMaxPage: "invalid_query_params" | "page_over_limit";
};

const MAX_LIMIT = 100;

/** Limit and offset of a list that ends at `maxPage` (docs/filters-and-listing.md#pages). */
export function pageFromProto(
  request: { readonly limit?: bigint | undefined; readonly page?: bigint | undefined },
  { maxPage, overMaxPage }: PageBounds,
): Page {
  const { limit = 1n, page = 1n } = request;
  if (limit < 1n) throw invalid("Property .limit cannot be lower than 1");
  if (limit > MAX_LIMIT) throw invalid(`Property .limit cannot be higher than ${MAX_LIMIT}`);
  if (page < 1n) throw invalid("Property .page cannot be lower than 1");
  if (page > maxPage) {
    throw new ApiError(overMaxPage, {
      details: `Property .page cannot be higher than ${maxPage}`,
    });
  }
  return parsePage(request);
}

const invalid = (details: string): ApiError => new ApiError("invalid_query_params", { details });
