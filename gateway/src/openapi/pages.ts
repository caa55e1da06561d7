import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

import type { OpenApiDocument } from "./document.ts";

export type Page = {
  readonly path: string;
  readonly contentType: string;
  readonly body: string | Buffer;
};

/**
 * The document and a page that shows it. Scripts and styles come from the installed package and are
 * files of our own origin, so that the page works without the internet and under a strict policy.
 */
export function documentationPages(document: OpenApiDocument): readonly Page[] {
  return [
    { path: "/openapi.json", contentType: "application/json", body: JSON.stringify(document) },
    { path: "/docs", contentType: "text/html; charset=utf-8", body: HTML },
    { path: "/docs/start.js", contentType: "text/javascript; charset=utf-8", body: START },
    asset("swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    asset("swagger-ui.css", "text/css; charset=utf-8"),
    asset("favicon-32x32.png", "image/png"),
  ];
}

const require = createRequire(import.meta.url);
const folder = path.dirname(require.resolve("swagger-ui-dist/package.json"));

function asset(name: string, contentType: string): Page {
  return { path: `/docs/${name}`, contentType, body: readFileSync(path.join(folder, name)) };
}

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Scrip API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <noscript>This page needs JavaScript; the document itself is at <a href="/openapi.json">/openapi.json</a>.</noscript>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** A file of its own, since the policy allows no inline scripts. */
const START = `SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  persistAuthorization: false,
  validatorUrl: null,
});
`;
