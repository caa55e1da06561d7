/** Turns the text of a variable into a value, or tells what was expected instead. */
export type Reader<Value> = {
  /** Completes "NAME must be …". */
  readonly expected: string;
  /** Answers undefined for a text that is not as expected. */
  readonly read: (text: string) => Value | undefined;
  /** Used when the variable is absent or empty; without one it is required. */
  readonly fallback?: { readonly value: Value };
};
