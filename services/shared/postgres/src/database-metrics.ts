import type { Metrics } from "@scrip/telemetry";
import type { Pool } from "pg";

import { sqlState } from "./errors.ts";

type MeasuredDatabase = {
  readonly pool: Pick<Pool, "totalCount" | "idleCount" | "waitingCount">;
  /** Number of transactions that wait for a connection before they ask the pool. */
  readonly waitingTransactions: () => number;
  readonly size: number;
};

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK = "40P01";

/** Reports the connections, together with those of other databases of the process; returns a counter of failures. */
export function measureDatabase(
  metrics: Metrics,
  { pool, waitingTransactions, size }: MeasuredDatabase,
): (error: unknown) => void {
  metrics.gauge({
    name: "database_connections_in_use",
    help: "Connections of the pools that run a statement or a transaction",
    read: () => pool.totalCount - pool.idleCount,
  });
  metrics.gauge({
    name: "database_connections_waiting",
    help: "Statements and transactions that wait for a connection",
    read: () => pool.waitingCount + waitingTransactions(),
  });
  metrics.gauge({
    name: "database_connections_limit",
    help: "Connections that the pools may have",
    read: () => size,
  });
  const deadlocks = metrics.counter({
    name: "deadlocks_total",
    help: "Transactions that PostgreSQL ended because of a deadlock",
  });
  const serializationFailures = metrics.counter({
    name: "serialization_retries_total",
    help: "Transactions that PostgreSQL rolled back because of a serialization failure, which callers retry",
  });
  return (error) => {
    const state = sqlState(error);
    if (state === DEADLOCK) deadlocks.inc();
    else if (state === SERIALIZATION_FAILURE) serializationFailures.inc();
  };
}
