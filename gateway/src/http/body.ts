import type { IncomingMessage } from "node:http";

import { ApiError } from "@scrip/errors";
import type { Context } from "koa";
import { koaBody } from "koa-body";

export type BodyLimits = {
  /** Default: 256 KiB, far more than a typical order. */
  readonly maxBodyBytes: number;
};

const MAX_FORM_BYTES = 8 * 1024;
const NULL = Buffer.from("null");

/** The raw body; undefined when empty or `null`, as clients send without parameters; both count as `{}`. */
export async function readJsonBody(
  req: IncomingMessage,
  { maxBodyBytes }: BodyLimits,
): Promise<Buffer | undefined> {
  if (!hasBody(req)) return undefined;
  rejectEncoding(req);
  const body = await readBytes(req, maxBodyBytes);
  // An empty body needs no Content-Type (`curl -X POST`).
  if (body.length === 0) return undefined;
  requireContentType(req, "application/json");
  return body.equals(NULL) ? undefined : body;
}

// koa-body only reads and bounds the bytes; the transcoder parses them strictly.
const parseForm = koaBody({
  json: false,
  text: false,
  multipart: false,
  urlencoded: true,
  formLimit: MAX_FORM_BYTES,
  includeUnparsed: true,
});

const done = async (): Promise<void> => {};

export async function readForm(ctx: Context): Promise<Buffer | undefined> {
  const { req } = ctx;
  if (!hasBody(req)) return undefined;
  rejectEncoding(req);
  if (declaredLength(req) > MAX_FORM_BYTES) {
    discard(req);
    throw tooLarge(MAX_FORM_BYTES);
  }
  requireContentType(req, "application/x-www-form-urlencoded");
  try {
    await parseForm(ctx, done);
  } catch (error) {
    if (statusOf(error) === 413) throw tooLarge(MAX_FORM_BYTES);
    throw new ApiError("invalid_payload", { details: "The form cannot be read", cause: error });
  }
  return Buffer.from(ctx.request.rawBody ?? "");
}

function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || declaredLength(req) > 0;
}

/** Bytes of the body that is to be read; the limit where the length is not declared. */
export function expectedLength(req: IncomingMessage, limit: number): number {
  return req.headers["transfer-encoding"] === undefined ? declaredLength(req) : limit;
}

/** Node rejects lengths that are not numbers. */
function declaredLength(req: IncomingMessage): number {
  const length = req.headers["content-length"];
  return length === undefined ? 0 : Number(length);
}

/** A body in one chunk, as most are, is not copied. */
function readBytes(req: IncomingMessage, limit: number): Promise<Buffer> {
  if (declaredLength(req) > limit) {
    discard(req);
    return Promise.reject(tooLarge(limit));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        req.removeAllListeners("data");
        discard(req);
        reject(tooLarge(limit));
        return;
      }
      chunks.push(chunk);
    });
    req.on("end", () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    );
    req.on("error", (cause) =>
      reject(new ApiError("invalid_payload", { details: "The body ended early", cause })),
    );
  });
}

const MAX_DISCARDED_BYTES = 16 * 1024 * 1024;
const DISCARD_MS = 3_000;

/**
 * Most clients read the response only after sending the whole body, so closing the connection now
 * would lose it. The rest is read and dropped, within bounds.
 */
function discard(req: IncomingMessage): void {
  const timer = setTimeout(() => req.destroy(), DISCARD_MS);
  let size = 0;
  req.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_DISCARDED_BYTES) req.destroy();
  });
  req.on("close", () => clearTimeout(timer));
}

function rejectEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return;
  // Rejects compressed bodies: they could be decompression bombs.
  throw new ApiError("unsupported_media_type", {
    details: `Content-Encoding ${encoding} is not supported`,
  });
}

/** Common values, accepted without parsing. */
const COMMON_JSON_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=utf-8",
  "application/json; charset=UTF-8",
  "application/json;charset=UTF-8",
]);

function requireContentType(req: IncomingMessage, expected: string): void {
  const given = req.headers["content-type"] ?? "";
  if (expected === "application/json" && COMMON_JSON_TYPES.has(given)) return;
  const [type = "", ...parameters] = given.split(";").map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  const utf8 =
    charset === undefined || charset === "charset=utf-8" || charset === 'charset="utf-8"';
  if (type === expected && utf8) return;
  throw new ApiError("unsupported_media_type", {
    details: `Content-Type must be ${expected}${utf8 ? "" : " in UTF-8"}`,
  });
}

const tooLarge = (limit: number): ApiError =>
  new ApiError("payload_too_large", { details: `The body must not exceed ${limit} bytes` });

function statusOf(error: unknown): number | undefined {
  return typeof error === "object" && error !== null && "status" in error
    ? Number(error.status)
    : undefined;
}
