const ORDERS: Readonly<Record<string, string>> = {
  created_at: "created_at, id",
  "-created_at": "created_at desc, id desc",
  updated_at: "coalesce(updated_at, created_at), id",
  "-updated_at": "coalesce(updated_at, created_at) desc, id desc",
};

/** The SQL of `order` in a list, which the contract bounds; the newest first by default. */
export const orderByTime = (order = "-created_at"): string => ORDERS[order] ?? "id";
