import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { ApiError } from "@scrip/errors";

import type { TierListing } from "../store/promotion-tier-lists.ts";

type Request = {
  readonly order?: string | undefined;
  readonly startingAfter?: Timestamp | undefined;
};

/** The order of a list of tiers and its cursor, which is a time and needs an order by time. */
export function tierOrder(
  { order, startingAfter }: Request,
  defaultOrder: string,
): Pick<TierListing, "order" | "startingAfter"> {
  if (startingAfter === undefined) return { order: order ?? defaultOrder };
  if (order?.endsWith("hierarchy") === true) {
    throw new ApiError("invalid_query_params", {
      details: "Property .starting_after is a time: .order must be by created_at or updated_at",
    });
  }
  const byTime = defaultOrder === "hierarchy" ? "created_at" : defaultOrder;
  return { order: order ?? byTime, startingAfter };
}
