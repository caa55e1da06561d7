import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { OpenApiDocument } from "../openapi/document.ts";
import { layoutPage, layoutReference } from "./layout.ts";
import { type Markdown, renderMarkdown } from "./markdown.ts";
import { readNavigation } from "./navigation.ts";
import { searchDocuments } from "./search-documents.ts";

/** Something under /docs, ready to be sent. */
export type DocsFile = {
  readonly contentType: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
  readonly policy: "page" | "reference" | undefined;
};

export type DocsSite = {
  /** The file at `/docs<path>`, where `path` is "" or starts with a slash; undefined if none. */
  readonly find: (path: string) => Promise<DocsFile | undefined>;
};

export type DocsSiteOptions = {
  readonly openApi: OpenApiDocument;
  /** The folder of the Markdown pages; that of the repository by default. */
  readonly folder?: string;
};

const HOME = "first-redemption";
const REPOSITORY_DOCS = fileURLToPath(new URL("../../../docs/", import.meta.url));
const ASSETS = fileURLToPath(new URL("./assets/", import.meta.url));

const JAVASCRIPT = "text/javascript; charset=utf-8";

const packageFile = (entry: string, file: string): string =>
  path.join(path.dirname(fileURLToPath(import.meta.resolve(entry))), file);

/** Scripts and styles; those of packages are served from the installed version. */
const ASSET_FILES: Readonly<Record<string, { readonly file: string; readonly type: string }>> = {
  "docs.css": { file: path.join(ASSETS, "docs.css"), type: "text/css; charset=utf-8" },
  "guide.css": { file: path.join(ASSETS, "guide.css"), type: "text/css; charset=utf-8" },
  "icon.svg": { file: path.join(ASSETS, "icon.svg"), type: "image/svg+xml" },
  "search.js": { file: path.join(ASSETS, "search.js"), type: JAVASCRIPT },
  "reference.js": { file: path.join(ASSETS, "reference.js"), type: JAVASCRIPT },
  "minisearch.js": { file: packageFile("minisearch", "index.js"), type: JAVASCRIPT },
  "scalar.js": {
    file: packageFile("@scalar/api-reference", "browser/standalone.js"),
    type: JAVASCRIPT,
  },
};

/**
 * The documentation: pages of docs/, the API reference and search. Files are read, rendered and
 * compressed on their first request, so that documentation that is not read costs nothing.
 */
export function createDocsSite({ openApi, folder = REPOSITORY_DOCS }: DocsSiteOptions): DocsSite {
  requireFolder(folder);
  const files = new Map<string, Promise<DocsFile>>();
  const once = (at: string, make: () => Promise<DocsFile>): Promise<DocsFile> => {
    const known = files.get(at);
    if (known !== undefined) return known;
    const made = make();
    files.set(at, made);
    // The next request tries again.
    made.catch(() => files.delete(at));
    return made;
  };
  const names = new Set(pageNames(folder));
  return {
    async find(at) {
      const name = at === "" ? HOME : at.slice(1);
      if (names.has(name)) return once(name, () => pageFile(folder, name));
      if (name === "api") return once(name, referenceFile);
      if (name === "search.json") return once(name, () => searchFile(folder, openApi));
      const asset = name.startsWith("assets/") ? name.slice("assets/".length) : "";
      if (!Object.hasOwn(ASSET_FILES, asset)) return undefined;
      return once(name, () => assetFile(asset));
    },
  };
}

function requireFolder(folder: string): void {
  if (existsSync(path.join(folder, "README.md"))) return;
  throw new Error(
    `the documentation is missing: ${path.resolve(folder)} has no README.md. ` +
      "Copy the folder docs/ of the repository there; the gateway serves it under /docs.",
  );
}

const pageNames = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith(".md") && file !== "README.md")
    .map((file) => file.slice(0, -".md".length));

const readPage = async (folder: string, name: string): Promise<Markdown> =>
  renderMarkdown(await readFile(path.join(folder, `${name}.md`), "utf8"));

async function pageFile(folder: string, name: string): Promise<DocsFile> {
  const index = await readFile(path.join(folder, "README.md"), "utf8");
  const page = await readPage(folder, name);
  const html = layoutPage({ navigation: readNavigation(index), name, page });
  return toFile("text/html; charset=utf-8", Buffer.from(html), "page");
}

const referenceFile = (): Promise<DocsFile> =>
  toFile("text/html; charset=utf-8", Buffer.from(layoutReference()), "reference");

async function searchFile(folder: string, openApi: OpenApiDocument): Promise<DocsFile> {
  const pages = await Promise.all(
    pageNames(folder).map(async (name) => [name, await readPage(folder, name)] as const),
  );
  const documents = searchDocuments(new Map(pages), openApi);
  return toFile("application/json", Buffer.from(JSON.stringify(documents)));
}

async function assetFile(asset: string): Promise<DocsFile> {
  const found = ASSET_FILES[asset];
  if (found === undefined) throw new Error(`no asset ${asset}`);
  const content = await readFile(found.file);
  // The maps of packages are not served.
  const text = content.toString("utf8").replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
  return toFile(found.type, Buffer.from(text));
}

const compress = promisify(gzip);

async function toFile(
  contentType: string,
  body: Buffer,
  policy?: DocsFile["policy"],
): Promise<DocsFile> {
  const hash = createHash("sha256").update(body).digest("base64url").slice(0, 22);
  return { contentType, body, gzipped: await compress(body), etag: `"${hash}"`, policy };
}
