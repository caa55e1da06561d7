/** One string for a composite key that starts with the project id. */
export const keyOf = (projectId: string, ...parts: readonly string[]): string =>
  JSON.stringify([projectId, ...parts]);
