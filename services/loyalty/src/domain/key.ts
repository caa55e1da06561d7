/** One string for a composite key that starts with the project id. PostgreSQL stores no text with the separator. */
export const keyOf = (...parts: readonly [projectId: string, ...ids: string[]]): string =>
  parts.join("\0");
