/**
 * What is wrong, and its path in the JSON document: `.items[0].price`, or empty for the whole
 * document.
 */
export type Violation = { readonly path: string; readonly text: string };

/** The details of a violation as the API words them (docs/errors.md#error-object). */
export function toDetails(violation: Violation): string {
  const { path, text } = violation;
  return path === "" ? `Payload ${text}` : `Property ${path} ${text}`;
}
