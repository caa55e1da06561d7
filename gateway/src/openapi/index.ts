export { openApiOf } from "./document.ts";
export { documentationPages } from "./pages.ts";
