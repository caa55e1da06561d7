export {
  type ArrayValue,
  boolArray,
  byteaArray,
  int4Array,
  int8Array,
  sparseBytea,
  sparseInt8,
  sparseText,
  textArray,
  timestampArray,
} from "./arrays.ts";
export {
  assignmentsFrom,
  batchOf,
  type BatchSql,
  buildStatement,
  column,
  type Column,
  columnNames,
  type ColumnTable,
  excludedAssignments,
  insertInto,
  projectIdPart,
  type RowKey,
  rowKeyPart,
  rowOf,
  type RowSql,
  type StatementPart,
  summedAssignments,
  updateOf,
} from "./column-table.ts";
export { type ReadChunk, repeatUntilNoRows, walkChunks } from "./chunks.ts";
export { type BulkReads, inlineValues } from "./bulk-reads.ts";
export {
  createDatabase,
  createPool,
  type Database,
  type DatabaseOptions,
  sessionStatement,
} from "./database.ts";
export type { ProjectQueryable, Queryable, Rows } from "./queryable.ts";
export {
  explainConnectionFailure,
  isRetryable,
  isUnavailable,
  isForeignKeyViolation,
  isLockTimeout,
  isStatementTimeout,
  isUniqueViolation,
  sqlState,
  TooManySnapshots,
} from "./errors.ts";
export { countRows, consistentTotal } from "./count-rows.ts";
export { readSnapshot } from "./snapshots.ts";
export { adjustClockTo } from "./server-clock.ts";
export { boundedSum } from "./bounded-sum.ts";
export { CASELESS, sortsByBytes } from "./collation.ts";
export { checkWrites, type WriteFailure, writeFailureOf } from "./write-check.ts";
export {
  type AppliedMigration,
  isCompatible,
  type Migration,
  readMigrations,
} from "./migration-files.ts";
export { assertIdentifier } from "./identifier.ts";
export { migrate, type MigrateOptions, MigrationError, type TableReader } from "./migrate.ts";
export {
  sqlCheck,
  type Chunk,
  type ChunkRequest,
  type InvariantCheck,
  listProjectsIn,
  type Violation,
} from "./invariants.ts";
export {
  listReads,
  type ListSource,
  type Page,
  type PageQuery,
  parsePage,
  readPage,
} from "./pages.ts";
export { orderByTime, readTimePage, type TimeListOrder } from "./time-pages.ts";
export type { CursorTimestamp } from "./time-cursor.ts";
export { createGenerationCache, type GenerationCache } from "./generation-cache.ts";
export {
  createDefinitionCache,
  type DefinitionCache,
  type DefinitionCacheOptions,
  type DefinitionKey,
  UnreadableDefinition,
} from "./definition-cache.ts";
export {
  bumpDefinitions,
  createDefinitionVersions,
  type DefinitionChanges,
  type DefinitionVersions,
  type DefinitionVersionsOptions,
} from "./definition-versions.ts";
export {
  boundaryInstants,
  keepPartitioned,
  maintainPartitions,
  type PartitionChanges,
  type PartitionClient,
  type PartitionedTable,
  type PartitionOptions,
} from "./partitions.ts";
export {
  holdProcessLock,
  processEnded,
  type ProcessLock,
  type ProcessLockOptions,
} from "./process-lock.ts";
export { packBytes, unpackBytes } from "./packed-bytes.ts";
export type { Statement } from "./statement.ts";
