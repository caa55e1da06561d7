import { escapeHtml } from "./highlight.ts";
import type { Heading, Markdown } from "./markdown.ts";
import type { NavigationGroup } from "./navigation.ts";

export const REFERENCE_PATH = "/docs/api";

type LayoutOptions = {
  readonly navigation: readonly NavigationGroup[];
  /** The page that is shown. */
  readonly name: string;
  readonly page: Markdown;
};

const head = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Scrip</title>
<link rel="icon" type="image/svg+xml" href="/docs/assets/icon.svg">
<link rel="stylesheet" href="/docs/assets/docs.css">`;

const search = `<div class="search" role="search">
<input id="search" type="search" placeholder="Search  ( / )" aria-label="Search the documentation" autocomplete="off"
 role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<ul id="results" role="listbox" aria-label="Search results" hidden></ul>
</div>`;

const header = (current: "guide" | "reference"): string => `<header class="top">
<a class="brand" href="/docs">Scrip</a>
<nav aria-label="Documentation">
<a href="/docs"${current === "guide" ? ' aria-current="true"' : ""}>Guide</a>
<a href="${REFERENCE_PATH}"${current === "reference" ? ' aria-current="page"' : ""}>API reference</a>
<a href="/docs/errors">Errors</a>
</nav>
${search}
</header>`;

/** A page of docs/ with navigation, search and its table of contents. Readable without scripts. */
export function layoutPage({ navigation, name, page }: LayoutOptions): string {
  const navigationHtml = navigationOf(navigation, name);
  return `${head(page.title)}
<link rel="stylesheet" href="/docs/assets/guide.css">
<script type="module" src="/docs/assets/search.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${header("guide")}
<div class="columns">
<details class="menu"><summary>All pages</summary>${navigationHtml}</details>
<nav class="side" aria-label="Pages">${navigationHtml}</nav>
<main id="content">
${page.html}${neighboursOf(navigation, name)}
</main>
${contentsOf(page.headings)}
</div>
</body>
</html>
`;
}

/** The API reference: one container that the reference's own script fills. */
export function layoutReference(): string {
  return `${head("API reference")}
<script type="module" src="/docs/assets/search.js"></script>
</head>
<body class="reference">
${header("reference")}
<noscript><p>The API reference needs JavaScript. The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</p></noscript>
<div id="reference"></div>
<script src="/docs/assets/scalar.js"></script>
<script src="/docs/assets/reference.js"></script>
</body>
</html>
`;
}

function navigationOf(navigation: readonly NavigationGroup[], current: string): string {
  const groups = navigation.map(({ title, pages }) => {
    const links = pages.map(({ name, title: label }) => {
      const mark = name === current ? ' aria-current="page"' : "";
      return `<li><a href="/docs/${name}"${mark}>${escapeHtml(label)}</a></li>`;
    });
    return `<h2>${escapeHtml(title)}</h2><ul>${links.join("")}</ul>`;
  });
  return `${groups.join("")}<h2>Reference</h2><ul><li><a href="${REFERENCE_PATH}">API reference</a></li></ul>`;
}

function contentsOf(headings: readonly Heading[]): string {
  const sections = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const links = sections.map(
    ({ anchor, text, depth }) =>
      `<li class="depth-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links.join("")}</ul></nav>`;
}

function neighboursOf(navigation: readonly NavigationGroup[], current: string): string {
  const pages = navigation.flatMap((group) => group.pages);
  const at = pages.findIndex(({ name }) => name === current);
  const link = (page: (typeof pages)[number] | undefined, rel: "prev" | "next"): string =>
    page === undefined
      ? "<span></span>"
      : `<a rel="${rel}" href="/docs/${page.name}">${escapeHtml(page.title)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">${link(pages[at - 1], "prev")}${link(pages[at + 1], "next")}</nav>`;
}
