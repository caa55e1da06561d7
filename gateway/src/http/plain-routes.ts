import { Router } from "@koa/router";

import { addDocsRoutes } from "../docs/routes.ts";
import type { DocsSite } from "../docs/site.ts";

export type PlainRoutesOptions = {
  readonly docs: DocsSite;
  /** The OpenAPI document as JSON. */
  readonly openApi: string;
  /** Whether this process can serve requests and is not shutting down. */
  readonly ready: () => Promise<boolean>;
};

/** Endpoints outside the contract: health and documentation. */
export function plainRoutes(options: PlainRoutesOptions): Router {
  const router = new Router();
  // Responding at all proves that the event loop runs.
  router.get("/livez", (ctx) => {
    ctx.body = { status: "alive" };
  });
  router.get("/readyz", async (ctx) => {
    const ready = await options.ready();
    ctx.status = ready ? 200 : 503;
    if (!ready) ctx.set("Retry-After", "1");
    ctx.body = { status: ready ? "ready" : "not ready" };
  });
  const openApi = Buffer.from(options.openApi);
  router.get("/openapi.json", (ctx) => {
    ctx.set("Content-Type", "application/json");
    ctx.body = openApi;
  });
  addDocsRoutes(router, options.docs);
  return router;
}
