const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? character);

/** Marks request lines, statuses, JSON keys and strings. Other languages stay plain. */
export function highlight(text: string, language: string | undefined): string {
  if (language === "http") return text.split("\n").map(httpLine).join("\n");
  if (language === "json") return text.split("\n").map(jsonLine).join("\n");
  if (language === "formula") return text.split("\n").map(formulaLine).join("\n");
  return escapeHtml(text);
}

function httpLine(line: string): string {
  const [, method, target] = /^(GET|POST|PUT|DELETE) (\/.*)$/.exec(line) ?? [];
  if (method !== undefined && target !== undefined) {
    return `<span class="method">${method}</span> <b>${escapeHtml(target)}</b>`;
  }
  if (/^=> \d{3}$/.test(line)) return `<span class="status">${escapeHtml(line)}</span>`;
  return jsonLine(line);
}

const jsonLine = (line: string): string =>
  line.replaceAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[&<>]/g, (match, text?: string, colon?: string) => {
    if (text === undefined) return escapeHtml(match);
    const kind = colon === undefined ? "string" : "key";
    return `<span class="${kind}">${escapeHtml(text)}</span>${colon ?? ""}`;
  });

function formulaLine(line: string): string {
  const at = line.lastIndexOf("=>");
  if (at === -1) return escapeHtml(line);
  const result = escapeHtml(line.slice(at));
  return `${escapeHtml(line.slice(0, at))}<span class="status">${result}</span>`;
}
