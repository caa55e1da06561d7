/**
 * A pair of application id and secret that gives access to a project, server side or client side.
 */
export type ApiKey = {
  /** X-App-Id or X-Client-Application-Id. */
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly kind: KeyKind;
  /** Scopes that its tokens may have; empty: all scopes of its kind. */
  readonly scopes: readonly string[];
  /** Allowed addresses and CIDR ranges; empty: all addresses. */
  readonly allowedIps: readonly string[];
  /** SHA-256. */
  readonly secretHash: Uint8Array;
  readonly blocked: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

export type KeyKind = "server" | "client";
