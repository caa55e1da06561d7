import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));

/** One request of an ```http block, and what its response must contain. */
export type HttpExample = {
  readonly kind: "http";
  readonly line: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** A subset of the response, as JSON; undefined if only the status is checked. */
  readonly response: string | undefined;
};

/** One line of a ```formula block: `formula => number`, or `=> fallback`. */
export type FormulaExample = {
  readonly kind: "formula";
  readonly line: number;
  readonly formula: string;
  readonly result: string;
  /** The `given` line above it: a request of validation, and `discount` for fields of the discount. */
  readonly input: string;
};

export type Example = HttpExample | FormulaExample;

export type DocsPage = { readonly file: string; readonly text: string };

export function docsPages(): readonly DocsPage[] {
  return readdirSync(DOCS)
    .filter((file) => file.endsWith(".md"))
    .toSorted()
    .map((file) => ({ file, text: readFileSync(path.join(DOCS, file), "utf8") }));
}

type Line = { readonly text: string; readonly line: number };

/** The examples of a page, in order. */
export function examplesOf(text: string): readonly Example[] {
  return blocksOf(text).flatMap(({ language, lines }): readonly Example[] => {
    if (language === "http") return splitExchanges(lines).map(parseExchange);
    return language === "formula" ? parseFormulas(lines) : [];
  });
}

function blocksOf(text: string): { readonly language: string; readonly lines: readonly Line[] }[] {
  const blocks: { language: string; lines: Line[] }[] = [];
  let open: { language: string; lines: Line[] } | undefined;
  for (const [index, content] of text.split("\n").entries()) {
    const fence = /^```(\w*)/.exec(content);
    if (fence === null) open?.lines.push({ text: content, line: index + 1 });
    else if (open === undefined) open = { language: fence[1] ?? "", lines: [] };
    else {
      blocks.push(open);
      open = undefined;
    }
  }
  return blocks;
}

const REQUEST_LINE = /^(GET|POST|PUT|DELETE) (\/\S*)$/;
const STATUS_LINE = /^=> (\d{3})$/;
const HEADER_LINE = /^([A-Za-z][\w-]*): (.*)$/;

function splitExchanges(lines: readonly Line[]): Line[][] {
  const exchanges: Line[][] = [];
  for (const line of lines) {
    if (REQUEST_LINE.test(line.text)) exchanges.push([line]);
    else exchanges.at(-1)?.push(line);
  }
  return exchanges;
}

function parseExchange(lines: readonly Line[]): HttpExample {
  const [first] = lines;
  const request = REQUEST_LINE.exec(first?.text ?? "");
  const statusAt = lines.findIndex(({ text }) => STATUS_LINE.test(text));
  const status = STATUS_LINE.exec(lines[statusAt]?.text ?? "")?.[1];
  if (first === undefined || request === null || status === undefined) {
    throw new Error(`line ${first?.line}: an example needs a request line and "=> <status>"`);
  }
  const sent = headersAndBody(lines.slice(1, statusAt));
  const received = headersAndBody(lines.slice(statusAt + 1));
  return {
    kind: "http",
    line: first.line,
    method: request[1] ?? "",
    path: request[2] ?? "",
    headers: sent.headers,
    body: sent.body,
    status: Number(status),
    responseHeaders: received.headers,
    response: received.body === "" ? undefined : received.body,
  };
}

function headersAndBody(lines: readonly Line[]) {
  const headers: Record<string, string> = {};
  let at = 0;
  for (; at < lines.length; at += 1) {
    const header = HEADER_LINE.exec(lines[at]?.text ?? "");
    if (header === null) break;
    headers[(header[1] ?? "").toLowerCase()] = header[2] ?? "";
  }
  const body = lines.slice(at).map(({ text }) => text);
  return { headers, body: body.join("\n").trim() };
}

function parseFormulas(lines: readonly Line[]): FormulaExample[] {
  let input = "{}";
  const examples: FormulaExample[] = [];
  for (const { text, line } of lines) {
    if (text.trim() === "") continue;
    if (text.startsWith("given ")) {
      input = text.slice("given ".length);
      continue;
    }
    const [, formula, result] = /^(.*\S)\s+=> (fallback|[\d.]+)$/.exec(text) ?? [];
    if (formula === undefined || result === undefined) {
      throw new Error(`line ${line}: expected "formula => number" or "formula => fallback"`);
    }
    examples.push({ kind: "formula", line, formula, result, input });
  }
  return examples;
}
