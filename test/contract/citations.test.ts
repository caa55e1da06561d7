import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { anchorsOf, relativeLinksOf, type SourceFile, sourceFiles } from "../docs/repository.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const files = sourceFiles();
const markdown = new Map(
  files.filter(({ path: at }) => at.endsWith(".md")).map(({ path: at, text }) => [at, text]),
);
const anchors = new Map([...markdown].map(([at, text]) => [at, anchorsOf(text)]));

/** Migrations are checksummed: what they once cited stays. */
const isMigration = (at: string): boolean => at.includes("/migrations/");

/** They look for the sign itself. */
const ABOUT_THE_SIGN: ReadonlySet<string> = new Set([
  "gateway/src/openapi/document.test.ts",
  "services/shared/filters/src/compile.test.ts",
]);

/** Comments may break a citation at the end of a line. */
const joined = (text: string): string =>
  text.replaceAll(/(-?)\n\s*(?:\/\/|\*|--)?\s*/g, (_, hyphen: string) => hyphen || " ");

function brokenCitations({ text }: SourceFile): readonly string[] {
  const citations = joined(text).matchAll(/(?<![\w/.-])docs\/([\w-]+\.md)(?:#([\w-]+))?/g);
  return [...citations].flatMap(([citation, page, anchor]) => {
    const known = anchors.get(`docs/${page}`);
    const isFound = known !== undefined && (anchor === undefined || known.has(anchor));
    return isFound ? [] : [citation];
  });
}

const paths = new Set(files.map(({ path: at }) => at));

function missingDecisionRecords({ text }: SourceFile): readonly string[] {
  const citations = joined(text).matchAll(
    /(?<![\w/.-])(?:services\/)?decisions\/(\d{4}-[\w.-]*\w)/g,
  );
  return [...citations].flatMap(([citation, record]) =>
    paths.has(`services/decisions/${record}`) ? [] : [citation],
  );
}

function brokenLinks(at: string, text: string): readonly string[] {
  return relativeLinksOf(text).filter((link) => {
    const [target = "", anchor] = link.split("#");
    const file = target === "" ? at : path.posix.join(path.posix.dirname(at), target);
    if (!existsSync(path.join(ROOT, file))) return true;
    return anchor !== undefined && anchors.get(file)?.has(anchor) !== true;
  });
}

describe("sources cite what exists", () => {
  test("every docs/<page>.md#section that a file cites exists", () => {
    const broken = files
      .map((file) => [file.path, brokenCitations(file)] as const)
      .filter(([, citations]) => citations.length > 0);
    expect(broken).toEqual([]);
  });

  test("every decision record that a file cites exists", () => {
    const broken = files
      .filter(({ path: at }) => !isMigration(at))
      .map((file) => [file.path, missingDecisionRecords(file)] as const)
      .filter(([, citations]) => citations.length > 0);
    expect(broken).toEqual([]);
  });

  test("every relative link of a Markdown file leads to a file, and its anchor to a heading", () => {
    const broken = [...markdown]
      .map(([at, text]) => [at, brokenLinks(at, text)] as const)
      .filter(([, links]) => links.length > 0);
    expect(broken).toEqual([]);
  });

  test("no file cites documents that are not in the repository", () => {
    // Sections of RFCs may be cited by their sign.
    const elsewhere = /(?<![\w/.-])(?:spec|design)\/[\w-]+|(?<!RFC \d+ )\u00A7/g;
    const citing = files
      .filter(({ path: at }) => !isMigration(at) && !ABOUT_THE_SIGN.has(at))
      .map(({ path: at, text }) => [at, text.match(elsewhere) ?? []] as const)
      .filter(([, citations]) => citations.length > 0);
    expect(citing).toEqual([]);
  });
});
