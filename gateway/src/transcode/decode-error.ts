import { toDetails, type Violation } from "@scrip/contract";
import type { ErrorKey } from "@scrip/errors";

/** A value that does not fit its field. Decoders prepend their path while the error propagates. */
export class DecodeError extends Error {
  readonly text: string;
  path = "";
  /** The error key, where it is not that of the payload as a whole. */
  key: ErrorKey | undefined;

  constructor(text: string) {
    super(text);
    this.text = text;
  }

  get violation(): Violation {
    return { path: this.path, text: this.text };
  }

  get details(): string {
    return toDetails(this.violation);
  }
}

/** For catch clauses: prepends a path segment. */
export function within(error: unknown, segment: string): unknown {
  if (error instanceof DecodeError) error.path = segment + error.path;
  return error;
}
