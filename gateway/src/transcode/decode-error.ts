import { toDetails, type Violation } from "@scrip/contract";
import type { ErrorKey } from "@scrip/errors";

/** A document that does not fit its message. The decoders on the way out put their names in front. */
export class DecodeError extends Error {
  readonly text: string;
  path = "";
  /** Instead of the key of the payload as a whole. */
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

/** For a catch clause: the same error, seen from one level further out. */
export function within(error: unknown, segment: string): unknown {
  if (error instanceof DecodeError) error.path = segment + error.path;
  return error;
}
