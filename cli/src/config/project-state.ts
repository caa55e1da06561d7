import { CliError } from "../cli-error.ts";
import { findCataloguePaths } from "./catalogue.ts";
import type { ProjectApi } from "./project-api.ts";
import { idsIn, replaceStrings, toReference } from "./references.ts";
import type { LoadedItem, Section } from "./section.ts";
import { SECTIONS } from "./sections.ts";

/** An object with references instead of ids. */
export type ConfigItem = {
  readonly section: Section;
  /** Path of the object that contains it. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
};

export type StoredItem = ConfigItem & { readonly id: string };

/** Objects by path: `<section>/<name>`, or `<section>/<name of the parent>/<name>`. */
export type ConfigItems<Item extends ConfigItem = ConfigItem> = ReadonlyMap<string, Item>;

export function pathOf(section: Section, name: string, parent?: string): string {
  if (section.single === true) return section.name;
  const owner = parent === undefined ? "" : `${nameOf(parent)}/`;
  return `${section.name}/${owner}${name}`;
}

/** The path without its section. */
export const nameOf = (path: string): string => path.slice(path.indexOf("/") + 1);

type Named = { readonly section: Section; readonly item: LoadedItem; readonly path: string };

/** Reads what the file can describe. Fails when two objects have the same path. */
export async function loadProject(api: ProjectApi): Promise<ConfigItems<StoredItem>> {
  const loaded = new Map<string, readonly LoadedItem[]>();
  for (const section of SECTIONS) {
    const parents = section.parent === undefined ? [] : (loaded.get(section.parent) ?? []);
    loaded.set(section.name, await section.load(api, parents));
  }
  const named = nameItems(loaded);
  const paths = new Map(named.map(({ item, path }) => [item.id, path]));
  for (const [id, path] of await findCataloguePaths(api, unnamedIds(named, paths))) {
    paths.set(id, path);
  }
  return new Map(
    named.map(({ section, item, path }) => [
      path,
      {
        section,
        id: item.id,
        parent: item.parent === undefined ? undefined : paths.get(item.parent),
        name: section.namedBy === undefined ? item.name : nameIn(paths, item.name),
        value: withReferences(item.value, paths),
      },
    ]),
  );
}

const unnamedIds = (named: readonly Named[], paths: ReadonlyMap<string, string>): string[] =>
  [...idsIn(named.map(({ item }) => item.value))].filter((id) => !paths.has(id));

const withReferences = (value: object, paths: ReadonlyMap<string, string>): ConfigItem["value"] =>
  replaceStrings(value, (text) => {
    const path = paths.get(text);
    return path === undefined ? text : toReference(path);
  }) as ConfigItem["value"];

function nameItems(loaded: ReadonlyMap<string, readonly LoadedItem[]>): readonly Named[] {
  const paths = new Map<string, string>();
  const named: Named[] = [];
  const ids = new Map<string, string>();
  for (const section of SECTIONS) {
    for (const item of loaded.get(section.name) ?? []) {
      const parent = item.parent === undefined ? undefined : ids.get(item.parent);
      const name = section.namedBy === undefined ? item.name : nameIn(ids, item.name);
      const path = pathOf(section, name, parent);
      const other = paths.get(path);
      if (other !== undefined && section.single !== true) {
        throw new CliError(
          `${other} and ${item.id} are both ${path}: names identify objects in the file, so rename one of them`,
        );
      }
      paths.set(path, item.id);
      ids.set(item.id, path);
      named.push({ section, item, path });
    }
  }
  return named;
}

const nameIn = (paths: ReadonlyMap<string, string>, id: string): string => {
  const path = paths.get(id);
  return path === undefined ? id : nameOf(path);
};
