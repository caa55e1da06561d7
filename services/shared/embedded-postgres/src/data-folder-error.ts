/** The data folder cannot be used; the message names it, the reason and the remedy. */
export class DataFolderError extends Error {
  override readonly name = "DataFolderError";
}
