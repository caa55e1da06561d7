import type { PartitionedTable } from "@scrip/postgres";
import type { Retention } from "@scrip/rpc";

const DAY_MS = 24 * 3_600_000;

/** Fewer partitions are fewer indexes to look a key up in: a day is a partition. */
export const IDEMPOTENCY_EVERY_MS = DAY_MS;

/** The tables of which expired rows are dropped with their partition. */
export const partitionedTables = ({ idempotencyMs }: Retention): readonly PartitionedTable[] => [
  {
    table: "idempotency",
    column: "created_at",
    everyMs: IDEMPOTENCY_EVERY_MS,
    keepMs: idempotencyMs,
  },
];
