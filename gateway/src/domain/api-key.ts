/** A pair of application id and secret that opens a project from one side. */
export type ApiKey = {
  /** X-App-Id or X-Client-Application-Id. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** What its tokens may ask for; everything of its kind when empty. */
  readonly scopes: readonly string[];
  /** Addresses and CIDR ranges; all when empty. */
  readonly allowedIps: readonly string[];
  /** SHA-256. */
  readonly secretHash: Uint8Array;
  readonly blocked: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

export type KeyKind = "server" | "client";
