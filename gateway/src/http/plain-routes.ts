import { Router } from "@koa/router";

/** A page that is served as it is: the contract, the documentation and its assets. */
export type StaticPage = {
  readonly path: string;
  readonly contentType: string;
  readonly body: string | Buffer;
};

export type PlainRoutesOptions = {
  readonly pages: readonly StaticPage[];
  /** Whether requests should come here: everything that we need is there, and we are not leaving. */
  readonly ready: () => Promise<boolean>;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
};

/** Scripts and styles of the documentation are our own files; nothing else may be loaded. */
const DOCS_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

/** What operators and readers need beside the contract; a handful of pages, so a plain router. */
export function plainRoutes(options: PlainRoutesOptions): Router {
  const router = new Router();
  // The event loop answers: that is all that liveness means.
  router.get("/livez", (ctx) => {
    ctx.body = { status: "alive" };
  });
  router.get("/readyz", async (ctx) => {
    const ready = await options.ready();
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set("Retry-After", "1");
    ctx.body = { status: ready ? "ready" : "not ready" };
  });
  router.get("/metrics", async (ctx) => {
    const { contentType, body } = await options.metrics();
    ctx.set("Content-Type", contentType);
    ctx.body = body;
  });
  for (const { path, contentType, body } of options.pages) {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    router.get(path, (ctx) => {
      if (contentType.startsWith("text/html")) {
        ctx.set("Content-Security-Policy", DOCS_CSP);
        ctx.set("Referrer-Policy", "no-referrer");
      }
      ctx.set("Content-Type", contentType);
      ctx.body = bytes;
    });
  }
  return router;
}
