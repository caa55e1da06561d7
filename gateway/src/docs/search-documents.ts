import type { OpenApiDocument } from "../openapi/document.ts";
import { REFERENCE_PATH } from "./layout.ts";
import type { Markdown } from "./markdown.ts";

/** What the search of the browser indexes: a section of a page, or an operation of the API. */
export type SearchDocument = {
  readonly id: string;
  readonly url: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
};

export function searchDocuments(
  pages: ReadonlyMap<string, Markdown>,
  openApi: OpenApiDocument,
): readonly SearchDocument[] {
  const sections = [...pages].flatMap(([name, { title, sections: parts }]) =>
    parts.map(({ anchor, heading, text }) => {
      const url = `/docs/${name}${anchor === "" ? "" : `#${anchor}`}`;
      return { url, page: title, title: heading, text };
    }),
  );
  return [...sections, ...operationsOf(openApi)].map((each, index) => ({
    id: String(index),
    ...each,
  }));
}

const operationsOf = ({ paths }: OpenApiDocument): readonly Omit<SearchDocument, "id">[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description, tags }]) => ({
      url: `${REFERENCE_PATH}#tag/${(tags[0] ?? "").toLowerCase()}/${operationId}`,
      page: "API reference",
      title: `${method.toUpperCase()} ${path}`,
      text: description.startsWith(summary) ? description : `${summary} ${description}`,
    })),
  );
