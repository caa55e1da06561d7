import { hash, randomBytes, timingSafeEqual } from "node:crypto";

/** Tells leaked secrets apart and lets scanners find them. */
export type SecretKind = "scrip_at_" | "scrip_key_";

const SECRET_BYTES = 32;

export const newSecret = (kind: SecretKind): string =>
  kind + randomBytes(SECRET_BYTES).toString("base64url");

export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** The same for the same secret, short, and safe to keep in memory. */
export const fingerprint = (secret: string): string => hash("sha256", secret, "base64");

/** Takes the same time wherever the two differ. */
export function secretMatches(secret: string, secretHash: Uint8Array): boolean {
  return timingSafeEqual(hash("sha256", secret, "buffer"), secretHash);
}
