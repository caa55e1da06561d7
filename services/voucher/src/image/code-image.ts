import { notFound, ApiError } from "@scrip/errors";
import type { HttpBody } from "@scrip/proto/google/api/httpbody_pb";
import type { GetQrRequest } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import bwip from "bwip-js/node";

import type { Deps } from "../deps.ts";

const DEFAULT_SIZE = 10n;
/** Pixels of the narrowest bar or square per unit of `size`. */
const PIXELS_PER_SIZE = 0.3;
/** Bounds CPU time and memory: a long code in a large size could be used for an attack. */
const MAX_WIDTH = 2400;
/** Quiet zone around the symbol in bars, as the standards require: 4 (QR) and 10 (Code 128). */
const QUIET_ZONE = { qrcode: 4, code128: 10 };

/** Draws the QR code or barcode of a voucher. The id is the only credential. */
export async function drawCodeImage(
  { assets }: Pick<Deps, "assets">,
  kind: "qrcode" | "code128",
  { id, size, format }: Pick<GetQrRequest, "id" | "size" | "format">,
): Promise<HttpBody> {
  const code = assets.open(id);
  if (code === undefined) throw notFound(kind === "qrcode" ? "qr" : "barcode", id);
  if (kind === "code128" && !/^[\u0020-\u007e]+$/.test(code)) {
    throw new ApiError("invalid_code_config", {
      details: "A barcode (Code 128) cannot hold this code: it has characters beyond ASCII",
    });
  }
  const symbol = {
    bcid: kind,
    text: code,
    paddingwidth: QUIET_ZONE[kind],
    paddingheight: kind === "qrcode" ? QUIET_ZONE.qrcode : 1,
    backgroundcolor: "FFFFFF",
    ...(kind === "code128" && { height: 12 }),
  };
  if (format === "svg") {
    return bodyOf("image/svg+xml", Buffer.from(bwip.toSVG({ ...symbol, scale: 2 }), "utf8"));
  }
  const scale = scaleFor(size ?? DEFAULT_SIZE, widthOf(symbol));
  return bodyOf("image/png", await bwip.toBuffer({ ...symbol, scale }));
}

function scaleFor(size: bigint, width: number): number {
  const wanted = Math.max(1, Math.round(Number(size) * PIXELS_PER_SIZE));
  return Math.max(1, Math.min(wanted, Math.floor(MAX_WIDTH / width)));
}

/** Width of the symbol in bars. */
function widthOf(symbol: Parameters<typeof bwip.toSVG>[0]): number {
  const [, width = "1"] = /viewBox="0 0 (\d+)/.exec(bwip.toSVG({ ...symbol, scale: 1 })) ?? [];
  return Number(width);
}

const bodyOf = (contentType: string, data: Uint8Array): HttpBody => ({
  $typeName: "google.api.HttpBody",
  contentType,
  data,
  extensions: [],
});
