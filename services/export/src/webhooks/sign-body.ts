import { createHmac } from "node:crypto";

/** Lower-case hexadecimal HMAC-SHA256 of the bytes of the body. */
export const signBody = (secret: string, body: string): string =>
  createHmac("sha256", secret).update(body, "utf8").digest("hex");
