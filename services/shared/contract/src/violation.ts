import type { DescField } from "@bufbuild/protobuf";

/**
 * What is wrong, and its path in the JSON document: `.items[0].price`, or empty for the whole
 * document.
 */
export type Violation = {
  readonly path: string;
  readonly text: string;
  /** The required field that is absent in the message at the path. */
  readonly missing?: DescField;
};

/** The details of a violation as the API words them (docs/errors.md#error-object). */
export function toDetails(violation: Violation): string {
  const { path, text } = violation;
  return path === "" ? `Payload ${text}` : `Property ${path} ${text}`;
}
