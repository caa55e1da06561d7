/** Where the files of exports are. */
export type FileStore = {
  /** Writes a file, which exists only when it is complete; returns its size. */
  readonly write: (key: string, content: AsyncIterable<Uint8Array>) => Promise<number>;
  /** Bytes `first` to `last`, both inclusive. Fails if the file does not exist. */
  readonly read: (
    key: string,
    range: { readonly first: number; readonly last: number },
  ) => AsyncIterable<Uint8Array>;
  /** Deletes a file; does nothing if it does not exist. */
  readonly remove: (key: string) => Promise<void>;
  /** Deletes the remains of interrupted writes. */
  readonly removeAbandoned: () => Promise<void>;
};
