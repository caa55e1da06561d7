import { ApiError } from "@scrip/errors";
import { type Page, parsePage } from "@scrip/postgres";

export type PageBounds = {
  readonly maxPage: number;
  /** The key of the error for a page above `maxPage`. */
  readonly overMaxPage: "invalid_query_params" | "page_over_limit";
};

/** Limit and offset of a list that ends at `maxPage` (docs/filters-and-listing.md#pages). */
export function pageFromProto(
  request: { readonly limit?: bigint | undefined; readonly page?: bigint | undefined },
  bounds: PageBounds,
): Page {
  if (Number(request.page ?? 1n) > bounds.maxPage) {
    throw new ApiError(bounds.overMaxPage, {
      details: `Property .page cannot be higher than ${bounds.maxPage}`,
    });
  }
  return parsePage(request);
}
