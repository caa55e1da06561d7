import { timingSafeEqual } from "node:crypto";

import { ApiError, notFound } from "@scrip/errors";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { findLinkedExport } from "../store/exports.ts";

export const downloadExport = (deps: Deps): Handler<typeof ExportService.method.downloadExport> =>
  async function* download({ exportId, token, first, last }) {
    const found = await findLinkedExport(deps.db, exportId);
    if (found === undefined) throw notFound("export", exportId);
    if (!isSame(token, found.token)) throw new ApiError("unauthorized");
    if (found.file === null) throw notFound("export", exportId);
    const { key, size } = found.file;
    const range = partOf(size, { first: Number(first ?? 0n), last });
    const length = Math.max(0, range.last - range.first + 1);
    yield message({ size: BigInt(size), first: BigInt(range.first), length: BigInt(length) });
    if (length === 0) return;
    for await (const data of deps.files.read(key, range)) yield message({ data });
  };

/** The part of a file with these bytes; it has none when it begins behind the end. */
function partOf(
  size: number,
  { first, last }: { readonly first: number; readonly last: bigint | undefined },
): { readonly first: number; readonly last: number } {
  const from = first < 0 ? Math.max(0, size + first) : Math.min(first, size);
  return { first: from, last: Math.min(size - 1, Number(last ?? size - 1)) };
}

const message = (fields: {
  readonly size?: bigint;
  readonly first?: bigint;
  readonly length?: bigint;
  readonly data?: Uint8Array;
}) => ({
  $typeName: "scrip.export.v1.DownloadExportResponse" as const,
  data: NO_BYTES,
  ...fields,
});

const NO_BYTES = new Uint8Array();

/** In a time that does not depend on how much of the token is right. */
function isSame(sent: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
