import { Readable } from "node:stream";

import type { Router } from "@koa/router";
import { isSafeText } from "@scrip/contract";
import { ApiError, invalidPayload } from "@scrip/errors";
import type {
  DownloadExportResponse,
  ExportService,
} from "@scrip/proto/scrip/export/v1/exports_pb";
import { type Client, serviceCall } from "@scrip/rpc";
import type { Context } from "koa";

import { ApiErrorWithHeaders } from "./error-response.ts";

const PATH = /^\/v1\/(?:exports\/[^/]+|async-actions\/[^/]+\/report)\/?$/;

/** Whether a request downloads a file by its link: the token in the query is its only credential. */
export const isDownload = (method: string | undefined, path: string, query: string): boolean =>
  (method === "GET" || method === "HEAD") &&
  PATH.test(path) &&
  new URLSearchParams(query).has("token");

/** Files are large, and each download holds a stream of the export service. */
const MAX_DOWNLOADS = 64;

/** A receiver that takes nothing for this long is disconnected. */
const STALLED_MS = 60_000;

type Downloads = Pick<Client<typeof ExportService>, "downloadExport" | "downloadReport">;

type Part = { readonly token: string; readonly first?: bigint; readonly last?: bigint };

/**
 * Adds the endpoints that stream the files of exports (docs/exports.md#download) and the reports of bulk updates
 * (docs/async-actions.md#reports).
 */
export function addDownloads(router: Router, exports: Downloads): void {
  const files: Readonly<Record<string, OpenFile>> = {
    "/v1/exports/:id": (exportId, part, signal) =>
      exports.downloadExport({ ...part, exportId }, { ...serviceCall(), signal }),
    "/v1/async-actions/:id/report": (asyncActionId, part, signal) =>
      exports.downloadReport({ ...part, asyncActionId }, { ...serviceCall(), signal }),
  };
  let running = 0;
  for (const [path, open] of Object.entries(files)) {
    router.get(path, async (ctx) => {
      if (running >= MAX_DOWNLOADS) throw new ApiError("too_many_requests");
      running += 1;
      ctx.res.once("close", () => (running -= 1));
      await startDownload(ctx, open);
    });
  }
}

/** Opens a part of the file of an export or async action. */
type OpenFile = (
  id: string,
  part: Part,
  signal: AbortSignal,
) => AsyncIterable<DownloadExportResponse>;

async function startDownload(ctx: Context, open: OpenFile): Promise<void> {
  const id = String(ctx["params"].id);
  // This path is outside the contract, which checks those of other requests.
  if (!isSafeText(id)) {
    throw invalidPayload("Payload has a path that must not contain NUL or lone surrogates");
  }
  const range = parseRange(ctx.get("range"));
  const left = new AbortController();
  ctx.res.once("close", () => left.abort());
  const part = {
    token: new URLSearchParams(ctx.querystring).get("token") ?? "",
    ...(range?.first !== undefined && { first: BigInt(range.first) }),
    ...(range?.last !== undefined && { last: BigInt(range.last) }),
  };
  const messages = open(id, part, left.signal)[Symbol.asyncIterator]();
  const { value: head } = await messages.next();
  const { size = 0n, first = 0n, length = 0n } = head as DownloadExportResponse;
  ctx.set("Accept-Ranges", "bytes");
  ctx.vary("Accept");
  if (range !== undefined && length === 0n) {
    throw new ApiErrorWithHeaders("range_not_satisfiable", {}, [
      "Content-Range",
      `bytes */${size}`,
    ]);
  }
  if (range !== undefined) {
    ctx.status = 206;
    ctx.set("Content-Range", `bytes ${first}-${first + length - 1n}/${size}`);
  }
  // Some client libraries accept nothing but text/plain.
  const plain = ctx.accepts("text/csv") === false && ctx.accepts("text/plain") !== false;
  ctx.set("Content-Type", `text/${plain ? "plain" : "csv"}; charset=utf-8`);
  ctx.set("Content-Disposition", `attachment; filename="${id.replaceAll(/[^\w-]/g, "")}.csv"`);
  ctx.set("Content-Length", String(length));
  ctx.set("X-Content-Type-Options", "nosniff");
  ctx.res.setTimeout(STALLED_MS, () => ctx.res.destroy());
  ctx.body = Readable.from(dataOf(messages), { objectMode: false });
}

async function* dataOf(messages: AsyncIterator<DownloadExportResponse>): AsyncIterable<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await messages.next();
      if (done === true) return;
      yield value.data;
    }
  } finally {
    await messages.return?.();
  }
}

/**
 * The one range of a header; undefined for the whole file, also with a header that this server does not support, as
 * RFC 9110 section 14.2 allows.
 */
export function parseRange(
  header: string,
): { readonly first: number; readonly last?: number } | undefined {
  const match = /^bytes=(\d{1,15})?-(\d{1,15})?$/.exec(header);
  if (match === null) return undefined;
  const [, from, to] = match;
  if (from === undefined) return to === undefined ? undefined : suffix(Number(to));
  const first = Number(from);
  if (to === undefined) return { first };
  return Number(to) < first ? undefined : { first, last: Number(to) };
}

/** The last bytes; of zero bytes there is no range. */
const suffix = (bytes: number) =>
  bytes === 0 ? { first: Number.MAX_SAFE_INTEGER } : { first: -bytes };
