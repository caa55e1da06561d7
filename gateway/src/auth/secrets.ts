import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** The prefix lets secret scanners find and classify leaked secrets. */
export type SecretKind = "scrip_at_" | "scrip_key_";

const SECRET_BYTES = 32;

export const newSecret = (kind: SecretKind): string =>
  kind + randomBytes(SECRET_BYTES).toString("base64url");

export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** A cache key from which the secret cannot be recovered. */
export const fingerprint = (secret: string): string => hash("sha256", secret, "base64");

/** Compares in constant time. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  return timingSafeEqual(hash("sha256", secret, "buffer"), secretHash);
}
