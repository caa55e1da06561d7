import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Folders without sources of the repository. Hidden folders are skipped as well. */
const SKIPPED = new Set(["node_modules", "coverage", "dist", "reports"]);
const TEXT = new Set([".ts", ".mts", ".js", ".mjs", ".proto", ".md", ".sql", ".json", ".yaml"]);

export type SourceFile = { readonly path: string; readonly text: string };

/** The text files of the repository, with paths from its root. */
export function sourceFiles(folder = ""): readonly SourceFile[] {
  return readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const at = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) {
      return entry.name.startsWith(".") || SKIPPED.has(entry.name) ? [] : sourceFiles(at);
    }
    if (!entry.isFile() || !TEXT.has(path.extname(entry.name))) return [];
    return [{ path: at, text: readFileSync(path.join(ROOT, at), "utf8") }];
  });
}

/** The anchors of a Markdown page, as GitHub generates them from headings. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of withoutCode(markdown).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = (heading[1] ?? "")
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replaceAll(/\s/g, "-");
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n += 1) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

/** The relative links of a Markdown page. */
export const relativeLinksOf = (markdown: string): readonly string[] =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((link) => link[1] ?? "")
    .filter((link) => !/^[a-z]+:/.test(link));

const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, "").replaceAll(/`[^`\n]*`/g, "");
