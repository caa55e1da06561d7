/**
 * Words that are never an id, code or name in a path: paths of bulk operations end in them, and where
 * there is no such operation the word must not be read as a parameter. Clients remove "." and ".." from paths, even
 * percent-encoded, before they send them.
 */
export const RESERVED_WORDS: ReadonlySet<string> = new Set([
  "qualification",
  "import",
  "importCSV",
  "bulk",
  "metadata",
  "export",
  ".",
  "..",
]);
