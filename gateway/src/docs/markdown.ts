import { Marked, type Tokens } from "marked";

import { escapeHtml, highlight } from "./highlight.ts";

/** A heading and the text below it, up to the next one: what search finds. */
export type Section = { readonly anchor: string; readonly heading: string; readonly text: string };

export type Heading = { readonly anchor: string; readonly text: string; readonly depth: number };

export type Markdown = {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
};

/** Renders a page of docs/. Anchors are those that GitHub gives the same headings. */
export function renderMarkdown(source: string): Markdown {
  const anchors = new Set<string>();
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = uniqueAnchor(anchorOf(text), anchors);
        headings.push({ anchor, text: plainText(text), depth });
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${content} ${link}</h${depth}>\n`;
      },
      code: ({ text, lang }: Tokens.Code) =>
        `<pre tabindex="0"><code>${highlight(text, lang)}</code></pre>\n`,
      table({ header, rows, align }: Tokens.Table) {
        const cell = ({ tokens }: Tokens.TableCell): string => this.parser.parseInline(tokens);
        const labels = header.map(({ text }) => escapeHtml(plainText(text)));
        // A phone shows rows below each other, with their headings; numbers stay in columns.
        const kind = align.includes("right") ? "table numbers" : "table";
        return tableHtml(
          kind,
          header.map(cell),
          rows.map((row) => row.map(cell)),
          labels,
        );
      },
      link({ href, tokens }: Tokens.Link) {
        const content = this.parser.parseInline(tokens);
        // Files of the repository outside docs/ are not served.
        if (href.startsWith("../")) return content;
        return `<a href="${escapeHtml(siteUrl(href))}">${content}</a>`;
      },
    },
  });
  const html = marked.parse(source, { async: false });
  return {
    title: headings.find(({ depth }) => depth === 1)?.text ?? "",
    html,
    headings,
    sections: sectionsOf(source, headings),
  };
}

function tableHtml(
  kind: string,
  header: readonly string[],
  rows: readonly (readonly string[])[],
  labels: readonly string[],
): string {
  const head = header.map((cell) => `<th scope="col">${cell}</th>`).join("");
  const body = rows.map((row) => {
    const cells = row.map((cell, at) => `<td data-label="${labels[at] ?? ""}">${cell}</td>`);
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="${kind}" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>\n`;
}

/** `stacking.md#limits` is served as `/docs/stacking#limits`; other links stay. */
function siteUrl(href: string): string {
  const [, page, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return page === undefined ? href : `/docs/${page}${anchor}`;
}

const anchorOf = (text: string): string =>
  plainText(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

function uniqueAnchor(anchor: string, taken: Set<string>): string {
  let unique = anchor;
  for (let n = 1; taken.has(unique); n += 1) unique = `${anchor}-${n}`;
  taken.add(unique);
  return unique;
}

const plainText = (markdown: string): string =>
  markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll(/[`*]/g, "");

function sectionsOf(source: string, headings: readonly Heading[]): readonly Section[] {
  const bodies: string[] = [];
  let inCode = false;
  for (const line of source.split("\n")) {
    if (line.startsWith("```")) inCode = !inCode;
    else if (!inCode && /^#{1,6} /.test(line)) bodies.push("");
    else if (bodies.length > 0) bodies.push(`${bodies.pop()}${line}\n`);
  }
  return headings.map(({ anchor, text }, index) => ({
    anchor: headings[index]?.depth === 1 ? "" : anchor,
    heading: text,
    text: plainText(bodies[index] ?? "")
      .replaceAll(/[|]|-{3,}/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  }));
}
