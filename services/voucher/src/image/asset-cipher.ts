import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";

/** Encrypts a code into the unguessable id of its QR and barcode images, and decrypts it. */
export type AssetCipher = {
  readonly seal: (projectId: string, code: string) => string;
  /** The code, or undefined for an id that this secret did not create. */
  readonly open: (id: string) => string | undefined;
};

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a keyed hash of the plaintext as nonce: a voucher always has the same id, and two plaintexts share
 * a nonce only if their hashes collide.
 */
export function createAssetCipher(secret: string): AssetCipher {
  const key = deriveKey(secret, "asset encryption");
  const nonceKey = deriveKey(secret, "asset nonce");
  return {
    seal(projectId, code) {
      const plaintext = Buffer.from(`${projectId}\n${code}`, "utf8");
      const nonce = createHmac("sha256", nonceKey)
        .update(plaintext)
        .digest()
        .subarray(0, NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url");
    },
    open(id) {
      const bytes = Buffer.from(id, "base64url");
      // Buffer.from skips characters outside base64url, and one id must not have several spellings.
      if (bytes.toString("base64url") !== id || bytes.length <= NONCE_BYTES + TAG_BYTES) {
        return undefined;
      }
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        const sealed = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        const plaintext = Buffer.concat([decipher.update(sealed), decipher.final()]).toString(
          "utf8",
        );
        return plaintext.slice(plaintext.indexOf("\n") + 1);
      } catch {
        return undefined;
      }
    },
  };
}

const deriveKey = (secret: string, use: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "scrip.voucher", use, 32));
