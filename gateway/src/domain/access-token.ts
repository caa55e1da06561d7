/** A token as it is kept: never itself, only its SHA-256. */
export type AccessToken = {
  readonly hash: Uint8Array;
  readonly projectId: string;
  /** The key that asked for it. */
  readonly keyId: string;
  /** As it was asked for, separated by spaces. */
  readonly scope: string;
  /** Epoch milliseconds of real time: sandbox clocks do not move tokens. */
  readonly expiresAt: number;
};
