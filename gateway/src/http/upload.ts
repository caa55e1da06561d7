import { createHash, type Hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";

import { Busboy, type BusboyFileStream, type BusboyHeaders } from "@fastify/busboy";
import { ApiError } from "@scrip/errors";

export type UploadLimits = { readonly maxUploadBytes: number };

/** Stores the next part of a file; every part but the last has `PART_BYTES`. */
export type AppendPart = (number: number, data: Buffer) => Promise<unknown>;

export type Upload = {
  /**
   * The file in the field `file`; undefined without one. Its hash replaces the body in the request hash, as JSON like
   * other bodies.
   */
  readonly file: { readonly hash: Buffer } | undefined;
  /** The other fields of the form, as a query string. */
  readonly fields: string;
};

const PART_BYTES = 1024 * 1024;

/** A sender that pauses for longer is disconnected. */
const IDLE_MS = 30_000;

/**
 * Receives the `file` of a multipart request at the pace at which its parts are stored, so that memory does not depend on its
 * size.
 */
export async function receiveUpload(
  req: IncomingMessage,
  { maxUploadBytes }: UploadLimits,
  append: AppendPart,
): Promise<Upload> {
  const headers = multipartHeaders(req);
  if (headers === undefined) return { file: undefined, fields: "" };
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > maxUploadBytes + MULTIPART_OVERHEAD) throw tooLarge(maxUploadBytes);
  const parser = new Busboy({
    headers,
    limits: { fileSize: maxUploadBytes, files: 10, fields: 20, fieldSize: 1024 },
  });
  const fields = new URLSearchParams();
  parser.on("field", (name, value) => fields.append(name, value));
  const hash = createHash("sha256");
  let stored: Promise<void> | undefined;
  let failure: unknown;
  parser.on("file", (name, stream) => {
    if (name !== "file" || stored !== undefined) {
      stream.resume();
      return;
    }
    stored = storeFile(stream, { hash, append, maxUploadBytes });
    // The parser waits for the file, so its failure ends the request.
    stored.catch((error: unknown) => {
      failure = error;
      parser.destroy(new Error("the file was not stored"));
    });
  });
  const idle = setTimeout(() => req.destroy(new Error("the sender paused")), IDLE_MS);
  req.on("data", () => idle.refresh());
  try {
    await pipeline(req, parser);
    await stored;
  } catch (cause) {
    if (failure !== undefined) throw failure;
    throw new ApiError("invalid_payload", { details: "The form cannot be read", cause });
  } finally {
    clearTimeout(idle);
  }
  return {
    file:
      stored === undefined ? undefined : { hash: Buffer.from(JSON.stringify(hash.digest("hex"))) },
    fields: fields.toString(),
  };
}

/** Boundaries and headers around the file. */
const MULTIPART_OVERHEAD = 64 * 1024;

function multipartHeaders(req: IncomingMessage): BusboyHeaders | undefined {
  const {
    "content-type": type,
    "transfer-encoding": encoding,
    "content-length": length,
  } = req.headers;
  // An empty request has no file.
  if (type === undefined && encoding === undefined && Number(length ?? 0) === 0) return undefined;
  if (type === undefined || !/^multipart\/form-data\s*;/i.test(type)) {
    throw new ApiError("unsupported_media_type", {
      details: "Content-Type must be multipart/form-data",
    });
  }
  return { ...req.headers, "content-type": type };
}

async function storeFile(
  file: BusboyFileStream,
  {
    hash,
    append,
    maxUploadBytes,
  }: UploadLimits & { readonly hash: Hash; readonly append: AppendPart },
): Promise<void> {
  let chunks: Buffer[] = [];
  let size = 0;
  let number = 0;
  const flush = async (): Promise<void> => {
    const all = Buffer.concat(chunks, size);
    const part = all.subarray(0, PART_BYTES);
    const rest = all.subarray(PART_BYTES);
    chunks = rest.length === 0 ? [] : [rest];
    size = rest.length;
    hash.update(part);
    await append(number++, part);
  };
  for await (const chunk of file as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= PART_BYTES) await flush();
  }
  if (file.truncated) throw tooLarge(maxUploadBytes);
  if (size > 0 || number === 0) await flush();
}

const tooLarge = (limit: number): ApiError =>
  new ApiError("payload_too_large", { details: `The file must not exceed ${limit} bytes` });
