export { makeFolder } from "./cluster.ts";
export { isRunning } from "./lock.ts";
export { DataFolderError } from "./data-folder-error.ts";
export { findEmbeddedPostgres, startEmbeddedPostgres, type EmbeddedPostgres } from "./start.ts";
