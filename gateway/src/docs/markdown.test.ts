import { describe, expect, test } from "vitest";

import { renderMarkdown } from "./markdown.ts";

const html = (source: string): string => renderMarkdown(source).html;

describe("renderMarkdown", () => {
  test("creates anchors of headings as GitHub does, numbering repeated ones", () => {
    const { title, headings } = renderMarkdown(
      "# A page\n\n## Days & `hours`\n\n## Limits\n\n### Limits\n",
    );
    expect(title).toBe("A page");
    expect(headings.map(({ anchor }) => anchor)).toEqual([
      "a-page",
      "days--hours",
      "limits",
      "limits-1",
    ]);
  });

  test("leads links between pages to their addresses, and none to files that are not served", () => {
    expect(html("[a](stacking.md#limits)")).toContain('<a href="/docs/stacking#limits">a</a>');
    expect(html("[a](#limits)")).toContain('<a href="#limits">a</a>');
    expect(html("[a](../README.md)")).toBe("<p>a</p>\n");
  });

  test("labels the cells of tables, and marks those with numbers", () => {
    const words = html("| Name | Meaning |\n| --- | --- |\n| a | b |\n");
    expect(words).toContain('<div class="table" tabindex="0">');
    expect(words).toContain('<td data-label="Meaning">b</td>');
    expect(html("| Name | Off |\n| --- | --: |\n| a | 1 |\n")).toContain('class="table numbers"');
  });

  test("marks examples without changing their text", () => {
    const code = html('```http\nPOST /v1/a?b=<c>&d\n{"e": "f \\" g"}\n=> 200\n```\n');
    expect(code).toContain('<span class="method">POST</span> <b>/v1/a?b=&lt;c&gt;&amp;d</b>');
    expect(code).toContain('<span class="key">&quot;e&quot;</span>: <span class="string">');
    expect(code).toContain('<span class="status">=&gt; 200</span>');
  });

  test("collects the text of sections for search, with examples and without signs of markup", () => {
    const { sections } = renderMarkdown(
      "# A\n\nIntro.\n\n```http\nGET /\n```\n\n## B\n\n| x | y |\n| --- | --- |\n| 1 | `two` |\n",
    );
    expect(sections).toEqual([
      { anchor: "", heading: "A", text: "Intro. GET /" },
      { anchor: "b", heading: "B", text: "x y 1 two" },
    ]);
  });
});
