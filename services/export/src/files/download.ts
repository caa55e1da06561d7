import { randomBytes, timingSafeEqual } from "node:crypto";

/** The bytes of a file that a link leads to. */
export type LinkedFile = {
  readonly size: number;
  /** Bytes `first` to `last`, both inclusive. */
  readonly read: (range: {
    readonly first: number;
    readonly last: number;
  }) => AsyncIterable<Uint8Array>;
};

/**
 * The messages of a download: the first one describes the part, the others contain it. A file that cannot be read fails before
 * the first one, so that the caller gets an error instead of a part that breaks off.
 */
export async function* downloadPart(
  { size, read }: LinkedFile,
  { first, last }: { readonly first?: bigint | undefined; readonly last?: bigint | undefined },
) {
  const range = partOf(size, { first: Number(first ?? 0n), last });
  const length = Math.max(0, range.last - range.first + 1);
  const head = message({ size: BigInt(size), first: BigInt(range.first), length: BigInt(length) });
  if (length === 0) {
    yield head;
    return;
  }
  let hasBegun = false;
  for await (const data of read(range)) {
    if (!hasBegun) yield head;
    hasBegun = true;
    yield message({ data });
  }
}

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

const TOKEN_BYTES = 32;

/** The only credential of a link. */
export const newLinkToken = (): string => randomBytes(TOKEN_BYTES).toString("base64url");

/** Compares tokens in a time that does not depend on how much of them is right. */
export function isSameToken(sent: string, expected: string): boolean {
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
