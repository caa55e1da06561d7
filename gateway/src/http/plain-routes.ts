import { Router } from "@koa/router";
import type { ExportService } from "@scrip/proto/scrip/export/v1/exports_pb";
import type { Client } from "@scrip/rpc";

import { addDocsRoutes } from "../docs/routes.ts";
import type { DocsSite } from "../docs/site.ts";
import type { Readiness } from "../monitoring/readiness.ts";
import { addDownloads } from "./downloads.ts";

export type PlainRoutesOptions = {
  readonly docs: DocsSite;
  /** The OpenAPI document as JSON. */
  readonly openApi: string;
  readonly readiness: () => Promise<Readiness>;
  /** The service that has the files of exports, if this gateway calls it. */
  readonly exports: Client<typeof ExportService> | undefined;
};

/** Endpoints outside the contract: health, documentation and files. */
export function plainRoutes(options: PlainRoutesOptions): Router {
  const router = new Router();
  // Responding at all proves that the event loop runs.
  router.get("/livez", (ctx) => {
    ctx.body = { status: "alive" };
  });
  // The server listens only after the start has completed, so every response means success.
  router.get("/startupz", (ctx) => {
    ctx.body = { status: "started" };
  });
  router.get("/readyz", async (ctx) => {
    const { status, failures } = await options.readiness();
    if (status === "not ready") {
      ctx.status = 503;
      ctx.set("Retry-After", "1");
    }
    ctx.body = { status, ...(failures.length > 0 && { failures }) };
  });
  const openApi = Buffer.from(options.openApi);
  router.get("/openapi.json", (ctx) => {
    ctx.set("Content-Type", "application/json");
    ctx.body = openApi;
  });
  addDocsRoutes(router, options.docs);
  if (options.exports !== undefined) addDownloads(router, options.exports);
  return router;
}
