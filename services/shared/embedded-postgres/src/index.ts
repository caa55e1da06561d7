export { makeFolder } from "./cluster.ts";
export { DataFolderError } from "./data-folder-error.ts";
export { startEmbeddedPostgres, type EmbeddedPostgres } from "./start.ts";
