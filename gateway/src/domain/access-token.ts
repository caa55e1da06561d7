/** An access token as it is stored: only its SHA-256, never the token itself. */
export type AccessToken = {
  readonly hash: Uint8Array;
  readonly projectId: string;
  /** The key that requested it. */
  readonly keyId: string;
  /** As requested, separated by spaces. */
  readonly scope: string;
  /** Epoch milliseconds in real time, independent of sandbox clocks. */
  readonly expiresAt: number;
};
