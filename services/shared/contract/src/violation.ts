/** What is wrong, and where in the JSON document: `.items[0].price`, or the empty path for the whole. */
export type Violation = { readonly path: string; readonly text: string };

/** The wording of spec/campaigns-loyalty-platform.md §0.3. */
export function toDetails(violation: Violation): string {
  const { path, text } = violation;
  return path === "" ? `Payload ${text}` : `Property ${path} ${text}`;
}
