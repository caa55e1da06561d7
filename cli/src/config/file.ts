import { type Document, parseDocument, stringify } from "yaml";

import { usageError } from "../cli-error.ts";
import { isJsonObject, type JsonObject } from "../http.ts";
import { type ConfigItem, type ConfigItems, nameOf, pathOf } from "./project-state.ts";
import type { Section } from "./section.ts";
import { SECTIONS } from "./sections.ts";
import { isVerbatim, withoutNulls } from "./verbatim.ts";

const VERSION = 1;

/** What a file describes, and which sections it has: the others are left alone. */
export type ConfigFile = {
  readonly items: ConfigItems;
  readonly sections: ReadonlySet<string>;
};

/** The same project gives the same text: sections and fields in a fixed order, names sorted. */
export function formatFile(items: ConfigItems): string {
  const sections = SECTIONS.map((section): [string, unknown] => [
    section.name,
    formatSection(section, items),
  ]);
  const present = sections.filter(([, content]) => content !== undefined);
  return stringify({ version: VERSION, ...Object.fromEntries(present) }, { lineWidth: 0 });
}

function formatSection(section: Section, all: ConfigItems): unknown {
  const items = [...all.values()].filter((item) => item.section === section).toSorted(byName);
  if (section.single === true) return items[0] === undefined ? undefined : formatValue(items[0]);
  if (section.parent === undefined)
    return Object.fromEntries(items.map((item) => [item.name, formatValue(item)]));
  const parents = Map.groupBy(items, ({ parent }) => nameOf(parent ?? ""));
  return Object.fromEntries(
    [...parents]
      .toSorted(([a], [b]) => compare(a, b))
      .map(([parent, children]) => [
        parent,
        Object.fromEntries(children.map((item) => [item.name, formatValue(item)])),
      ]),
  );
}

const byName = (a: ConfigItem, b: ConfigItem): number => compare(a.name, b.name);

/** By code unit: the order must not depend on the locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Absent and empty fields are left out; nested keys are sorted. */
const formatValue = ({ section, value }: ConfigItem): JsonObject =>
  Object.fromEntries(
    section.fields
      .filter((field) => !isEmpty(value[field]))
      .map((field) => [field, formatField(field, value[field])]),
  );

const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  (typeof value === "object" && Object.keys(value).length === 0);

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => !isEmpty(each))
      .toSorted(([a], [b]) => compare(a, b))
      .map(([key, each]) => [key, formatField(key, each)]),
  );
}

const formatField = (name: string, value: unknown): unknown =>
  isVerbatim(name) ? sortVerbatim(withoutNulls(value)) : sortKeys(value);

function sortVerbatim(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortVerbatim);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => compare(a, b))
      .map(([key, each]) => [key, sortVerbatim(each)]),
  );
}

/** Reports all mistakes of the file together. */
export function parseFile(text: string, fileName: string): ConfigFile {
  const document = parseDocument(text, { uniqueKeys: true });
  const mistakes = document.errors.map(({ message }) => message);
  if (mistakes.length > 0) throw usageError(`${fileName}: ${mistakes.join("; ")}`);
  const content = contentOf(document, fileName);
  if (!isJsonObject(content)) throw usageError(`${fileName} is not a configuration file`);
  const { version, ...rest } = content;
  if (version !== VERSION) throw usageError(`${fileName}: version must be ${VERSION}`);
  const problems: string[] = [];
  const items = new Map<string, ConfigItem>();
  for (const [name, value] of Object.entries(rest)) {
    const section = SECTIONS.find((each) => each.name === name);
    if (section === undefined) problems.push(`${name} is not a section`);
    else addSection(section, value, { items, problems });
  }
  if (problems.length > 0) throw usageError(`${fileName}: ${problems.join("; ")}`);
  return { items, sections: new Set(Object.keys(rest)) };
}

/** Rejects aliases, with which a small file can expand to a huge document. */
function contentOf(document: Document.Parsed, fileName: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    throw usageError(`${fileName}: ${(error as Error).message}`);
  }
}

type Parsed = { readonly items: Map<string, ConfigItem>; readonly problems: string[] };

function addSection(section: Section, content: unknown, parsed: Parsed): void {
  if (content === null) return;
  if (section.single === true)
    return addItem({ section, parent: undefined, name: "" }, content, parsed);
  for (const [name, value] of entries(content, section.name, parsed)) {
    if (section.parent === undefined) {
      addItem({ section, parent: undefined, name }, value, parsed);
      continue;
    }
    const parent = `${section.parent}/${name}`;
    for (const [child, each] of entries(value, `${section.name}/${name}`, parsed))
      addItem({ section, parent, name: child }, each, parsed);
  }
}

function addItem(
  item: Omit<ConfigItem, "value">,
  value: unknown,
  { items, problems }: Parsed,
): void {
  const path = pathOf(item.section, item.name, item.parent);
  if (!isJsonObject(value ?? {})) {
    problems.push(`${path} must be a map`);
    return;
  }
  // `a/b` of `c` and `b` of `c/a` have the same path.
  if (items.has(path)) problems.push(`${path} occurs twice`);
  const fields = (value ?? {}) as JsonObject;
  const unknown = Object.keys(fields).filter((field) => !item.section.fields.includes(field));
  problems.push(...unknown.map((field) => `${path} has an unknown field ${field}`));
  items.set(path, { ...item, value: item.section.normalize?.(fields) ?? fields });
}

function entries(
  content: unknown,
  path: string,
  { problems }: Parsed,
): readonly (readonly [string, unknown])[] {
  if (content === null) return [];
  if (isJsonObject(content)) return Object.entries(content);
  problems.push(`${path} must be a map`);
  return [];
}
