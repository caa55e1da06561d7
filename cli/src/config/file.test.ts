import fc from "fast-check";
import { expect, test } from "vitest";

import type { JsonObject } from "../http.ts";
import { formatFile, parseFile } from "./file.ts";
import { planChanges } from "./plan.ts";
import { type ConfigItem, pathOf, type StoredItem } from "./project-state.ts";
import type { Section } from "./section.ts";
import { SECTIONS } from "./sections.ts";

/** Names with everything that YAML or a path could misread. */
const names = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }),
  fc.constantFrom(
    "null",
    "true",
    "1",
    "0x1f",
    "1e3",
    "~",
    "- a",
    "a: b",
    "a/b",
    "# c",
    " ",
    "<<",
    "2026-01-01",
  ),
);

/** Values without empty ones, which files leave out. */
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    names,
    fc.integer(),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
    fc.dictionary(names, tie("value"), { minKeys: 1, maxKeys: 3 }),
  ),
}));

const itemsOf = (section: Section): fc.Arbitrary<readonly ConfigItem[]> =>
  fc.uniqueArray(
    fc.record({
      section: fc.constant(section),
      name: section.single === true ? fc.constant("") : names,
      parent:
        section.parent === undefined
          ? fc.constant(undefined)
          : names.map((name) => `${section.parent}/${name}`),
      // As the API returns them, with defaults.
      value: fc
        .dictionary(fc.constantFrom(...section.fields), values, { minKeys: 1, maxKeys: 4 })
        .map((value) => section.normalize?.(value as JsonObject) ?? value),
    }),
    {
      maxLength: section.single === true ? 1 : 2,
      selector: ({ name, parent }) => JSON.stringify([parent, name]),
    },
  );

const projects = fc
  .tuple(...SECTIONS.map(itemsOf))
  .map((sections) => new Map(sections.flat().map((item, id) => [`${id}`, item])));

test("reads what it has written, and writes the same text whatever the order of the objects", () => {
  fc.assert(
    fc.property(projects, (project) => {
      const text = formatFile(project);
      const { items } = parseFile(text, "scrip.yaml");
      expect(formatFile(items)).toBe(text);
      expect(formatFile(new Map([...project].toReversed()))).toBe(text);
    }),
    { numRuns: 30 },
  );
});

test("plans nothing for a project that is as the file says", () => {
  fc.assert(
    fc.property(projects, (project) => {
      const { items, sections } = parseFile(formatFile(project), "scrip.yaml");
      const stored = new Map(
        [...items].map(([path, item], id): [string, StoredItem] => [
          path,
          { ...item, id: `${id}` },
        ]),
      );
      expect(planChanges({ items, sections }, stored).steps).toEqual([]);
      for (const [path, { section, name, parent }] of items)
        expect(pathOf(section, name, parent)).toBe(path);
    }),
    { numRuns: 30 },
  );
});
