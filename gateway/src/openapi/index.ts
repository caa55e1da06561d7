export { openApiOf, type OpenApiDocument, type OpenApiOptions } from "./document.ts";
export { documentationPages, type Page } from "./pages.ts";
