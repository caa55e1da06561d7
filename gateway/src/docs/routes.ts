import type { Router } from "@koa/router";
import type { Context } from "koa";

import type { DocsFile, DocsSite } from "./site.ts";

const SELF_ONLY =
  "default-src 'none'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; ";

/** Pages load no external resources. The API reference creates style elements and workers. */
const POLICIES = {
  page: `${SELF_ONLY}style-src 'self'`,
  reference: `${SELF_ONLY}style-src 'self' 'unsafe-inline'; font-src 'self' data:; worker-src 'self' blob:`,
};

/** Serves the documentation under /docs. Unknown pages fall through to 404. */
export function addDocsRoutes(router: Router, site: DocsSite): void {
  router.get(/^\/docs(\/.*)?$/, async (ctx) => {
    const file = await site.find(ctx.path.slice("/docs".length).replace(/\/$/, ""));
    if (file !== undefined) send(ctx, file);
  });
}

function send(ctx: Context, { contentType, body, gzipped, etag, policy }: DocsFile): void {
  ctx.status = 200;
  ctx.set("Cache-Control", policy === undefined ? "public, max-age=3600" : "public, no-cache");
  ctx.set("ETag", etag);
  ctx.set("Vary", "Accept-Encoding");
  if (policy !== undefined) {
    ctx.set("Content-Security-Policy", POLICIES[policy]);
    ctx.set("Referrer-Policy", "no-referrer");
  }
  if (ctx.get("If-None-Match").includes(etag)) {
    ctx.status = 304;
    return;
  }
  const encoding = ctx.acceptsEncodings("gzip", "identity");
  if (encoding === "gzip") ctx.set("Content-Encoding", "gzip");
  ctx.set("Content-Type", contentType);
  ctx.body = encoding === "gzip" ? gzipped : body;
}
