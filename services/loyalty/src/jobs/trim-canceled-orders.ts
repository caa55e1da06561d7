import type { Database } from "@scrip/postgres";
import { startExpiryJob } from "@scrip/rpc";

import { trimCanceledOrders } from "../store/canceled-orders.ts";

/** Deletes old cancellations of orders, until disposed. */
export const startCanceledOrderTrim = (
  db: Database,
  onError: (error: Error) => void,
): AsyncDisposable => startExpiryJob((limit) => trimCanceledOrders(db, limit), onError);
