export { openApiOf, type OpenApiDocument } from "./document.ts";
