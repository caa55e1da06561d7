/** Parses the text of a variable, or describes the expected value. */
export type Reader<Value> = {
  /** Completes "NAME must be …". */
  readonly expected: string;
  /** Returns undefined for text of another form. */
  readonly read: (text: string) => Value | undefined;
  /** Used when the variable is absent or empty; without a default the variable is required. */
  readonly fallback?: { readonly value: Value };
};
