import { createCipheriv, createDecipheriv, hash, hkdfSync, timingSafeEqual } from "node:crypto";

/** Encrypts a code into the unguessable id of its QR and barcode images, and decrypts it. */
export type AssetCipher = {
  readonly seal: (projectId: string, code: string) => string;
  /** The code, or undefined for an id that this secret did not create. */
  readonly open: (id: string) => string | undefined;
};

const BLOCK = 16;

/**
 * Deterministic authenticated encryption (synthetic IV, as RFC 5297 describes it): the IV is an HMAC of the plaintext,
 * which AES in counter mode then encrypts. A voucher always has the same id. Neither part creates a cipher or HMAC object
 * for each code, which costs ten times as much as the encryption; a million codes are sealed in one job.
 */
export function createAssetCipher(secret: string): AssetCipher {
  const mac = createMac(deriveKey(secret, "asset authentication"));
  const applyKeystream = createKeystream(deriveKey(secret, "asset counter mode"));
  const openEarlier = createEarlierOpener(secret);
  return {
    seal(projectId, code) {
      const plaintext = Buffer.from(`${projectId}\n${code}`, "utf8");
      const iv = mac(plaintext);
      return Buffer.concat([iv, applyKeystream(iv, plaintext)]).toString("base64url");
    },
    open(id) {
      const bytes = Buffer.from(id, "base64url");
      // Buffer.from skips characters outside base64url, and one id must not have several spellings.
      if (bytes.toString("base64url") !== id || bytes.length <= BLOCK) return undefined;
      const iv = bytes.subarray(0, BLOCK);
      const plaintext = applyKeystream(iv, bytes.subarray(BLOCK));
      if (!timingSafeEqual(mac(plaintext), iv)) return openEarlier(bytes);
      return codeOf(plaintext);
    },
  };
}

const codeOf = (plaintext: Buffer): string => {
  const text = plaintext.toString("utf8");
  return text.slice(text.indexOf("\n") + 1);
};

const HASH_BLOCK = 64;
const DIGEST = 32;

/** HMAC-SHA-256, cut to one block. */
function createMac(key: Buffer): (message: Buffer) => Buffer {
  const padded = (byte: number): Buffer => {
    const pad = Buffer.alloc(HASH_BLOCK, byte);
    for (const [index, value] of key.entries()) pad.writeUInt8(value ^ byte, index);
    return pad;
  };
  const inner = padded(0x36);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(DIGEST)]);
  return (message) => {
    outer.write(sha256(Buffer.concat([inner, message])), HASH_BLOCK, "binary");
    return Buffer.from(sha256(outer).slice(0, BLOCK), "binary");
  };
}

/** As a string, whose garbage costs less than that of a buffer. */
const sha256 = (message: Buffer): string => hash("sha256", message, "binary");

/** AES-256 in counter mode, with the IV as the first counter block. */
function createKeystream(key: Buffer): (iv: Buffer, text: Buffer) => Buffer {
  const blockCipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  return (iv, text) => {
    const counters = Buffer.allocUnsafe(Math.ceil(text.length / BLOCK) * BLOCK);
    const first = iv.readUInt32BE(BLOCK - 4);
    for (let offset = 0; offset < counters.length; offset += BLOCK) {
      iv.copy(counters, offset);
      counters.writeUInt32BE((first + offset / BLOCK) >>> 0, offset + BLOCK - 4);
    }
    const stream = blockCipher.update(counters);
    for (let index = 0; index < text.length; index += 1) {
      stream[index] = (stream[index] ?? 0) ^ (text[index] ?? 0);
    }
    return stream.subarray(0, text.length);
  };
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Opens ids of earlier releases: AES-256-GCM, behind its nonce and tag. */
function createEarlierOpener(secret: string): (bytes: Buffer) => string | undefined {
  const key = deriveKey(secret, "asset encryption");
  return (bytes) => {
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const sealed = bytes.subarray(NONCE_BYTES + TAG_BYTES);
      return codeOf(Buffer.concat([decipher.update(sealed), decipher.final()]));
    } catch {
      return undefined;
    }
  };
}

const deriveKey = (secret: string, use: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "scrip.voucher", use, 32));
