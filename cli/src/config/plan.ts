import { isDeepStrictEqual } from "node:util";

import { isJsonObject } from "../http.ts";
import { isCataloguePath } from "./catalogue.ts";
import type { ConfigFile } from "./file.ts";
import type { ConfigItem, ConfigItems, StoredItem } from "./project-state.ts";
import { pathsIn } from "./references.ts";
import { SECTIONS } from "./sections.ts";
import { isVerbatim, withoutNulls } from "./verbatim.ts";

export type FieldChange = { readonly field: string; readonly from: unknown; readonly to: unknown };

export type Step =
  | { readonly action: "create"; readonly path: string; readonly item: ConfigItem }
  | {
      readonly action: "update";
      readonly path: string;
      readonly item: ConfigItem;
      readonly current: StoredItem;
      readonly changes: readonly FieldChange[];
    }
  | { readonly action: "delete"; readonly path: string; readonly current: StoredItem };

export type Plan = {
  /** In an order in which each object exists before others refer to it; deletions last. */
  readonly steps: readonly Step[];
  /** Why the plan cannot be applied. */
  readonly problems: readonly string[];
};

/**
 * The difference between a file and a project. Fields that the file leaves out keep their values;
 * objects that it leaves out are deleted if it has their section.
 */
export function planChanges(file: ConfigFile, current: ConfigItems<StoredItem>): Plan {
  const problems: string[] = [];
  const writes = [...file.items].flatMap(([path, item]) => planItem(path, item, current, problems));
  const known = (path: string): boolean =>
    file.items.has(path) ||
    isCataloguePath(path) ||
    (current.has(path) && !isDeleted(path, file, current));
  for (const [path, item] of file.items) {
    for (const target of dependenciesOf(item)) {
      if (!known(target)) problems.push(unknownReference(path, target));
    }
  }
  const deletions = planDeletions(current, (path) => isDeleted(path, file, current));
  return { steps: [...orderWrites(writes, problems), ...deletions], problems };
}

export const unknownReference = (path: string, target: string): string =>
  `${path} refers to ${target}, which does not exist`;

/** What the steps of a plan refer to in the catalogue, with the objects that do. */
export function catalogueReferences(steps: readonly Step[]): ReadonlyMap<string, string> {
  const references = steps.flatMap((step) =>
    step.action === "delete"
      ? []
      : [...pathsIn(step.item.value)].map((target): [string, string] => [target, step.path]),
  );
  return new Map(references.filter(([target]) => isCataloguePath(target)));
}

/** The steps that restore the earlier state of the objects at the paths, every field included. */
export function planRestore(
  paths: ReadonlySet<string>,
  before: ConfigItems,
  current: ConfigItems<StoredItem>,
): readonly Step[] {
  const writes = [...before]
    .filter(([path]) => paths.has(path))
    .flatMap(([path, item]) => restoreItem(path, item, current.get(path)));
  const deletions = planDeletions(current, (path) => paths.has(path) && !before.has(path));
  return [...orderWrites(writes, []), ...deletions];
}

function restoreItem(path: string, item: ConfigItem, current: StoredItem | undefined): Step[] {
  if (current === undefined) return [{ action: "create", path, item }];
  const changes = item.section.fields
    .map((field) => ({
      field,
      from: current.value[field] ?? null,
      to: item.value[field] ?? null,
    }))
    .filter(({ field, from, to }) => !isEqual(field, from, to));
  if (changes.length === 0) return [];
  const value = Object.fromEntries(changes.map(({ field, to }) => [field, to]));
  return [{ action: "update", path, item: { ...item, value }, current, changes }];
}

function planItem(
  path: string,
  item: ConfigItem,
  all: ConfigItems<StoredItem>,
  problems: string[],
): Step[] {
  const current = all.get(path);
  if (current === undefined) {
    if (item.section.create === undefined) problems.push(`${path} cannot be created`);
    return [{ action: "create", path, item }];
  }
  const changes = Object.entries(item.value)
    .map(([field, to]) => ({
      field,
      from: comparable(field, to, current.value[field]) ?? null,
      to,
    }))
    .filter(({ field, from, to }) => !isEqual(field, from, to));
  for (const { field, to } of changes) {
    const part = fixedPart(item, field, to, current.value[field]);
    if (part !== undefined)
      problems.push(`${path}: ${part} cannot change; create the object under a new name`);
  }
  if (changes.length === 0) return [];
  const value = Object.fromEntries(
    Object.entries(item.value).map(([field, to]) => [
      field,
      merge(field, to, current.value[field]),
    ]),
  );
  return [{ action: "update", path, item: { ...item, value }, current, changes }];
}

/** Maps whose keys are the project's own: the file contains all of them. */
const COMPLETE_MAPS = new Set([
  "metadata",
  "rules",
  "filter",
  "properties",
  "earning_rules",
  "rewards",
  "applicable_redeemables_category_limits",
]);

/** What the project has of the parts that the file mentions: the API adds defaults to the others. */
function comparable(field: string, wanted: unknown, stored: unknown): unknown {
  if (COMPLETE_MAPS.has(field) || !isJsonObject(wanted) || !isJsonObject(stored)) return stored;
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [key, comparable(key, value, stored[key])]),
  );
}

/** The value to write: parts that the file leaves out keep their values. */
function merge(field: string, wanted: unknown, stored: unknown): unknown {
  if (COMPLETE_MAPS.has(field) || !isJsonObject(wanted) || !isJsonObject(stored)) return wanted;
  // Another type of discount or reward has other fields.
  if (wanted["type"] !== undefined && wanted["type"] !== stored["type"]) return wanted;
  const merged = Object.entries(wanted).map(([key, value]) => [
    key,
    merge(key, value, stored[key]),
  ]);
  return { ...stored, ...Object.fromEntries(merged) };
}

/** Parts of the template of a campaign's vouchers that a campaign keeps. */
const FIXED_TEMPLATE = ["type", "code", "redemption", "code_config"];

function fixedPart(
  { section }: ConfigItem,
  field: string,
  to: unknown,
  stored: unknown,
): string | undefined {
  if (section.fixed?.includes(field) === true) return field;
  if (field !== "voucher" || !isJsonObject(to) || !isJsonObject(stored)) return undefined;
  const part = FIXED_TEMPLATE.find(
    (each) => each in to && !isEqual(each, to[each], comparable(each, to[each], stored[each])),
  );
  return part === undefined ? undefined : `voucher.${part}`;
}

/** Absent, null, false and empty mean the same, and dates are equal as points in time. */
const isEqual = (field: string, a: unknown, b: unknown): boolean =>
  isDeepStrictEqual(normalize({ [field]: a }), normalize({ [field]: b }));

const DATE = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/;

function normalize(value: unknown): unknown {
  if (typeof value === "string") return DATE.test(value) ? new Date(value) : value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(normalize);
  if (value === null || value === false) return undefined;
  if (typeof value !== "object") return value;
  const fields = Object.entries(value)
    .map(([key, each]): [string, unknown] => [
      key,
      isVerbatim(key) ? normalizeVerbatim(each) : normalize(each),
    ])
    .filter(([, each]) => each !== undefined);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function normalizeVerbatim(value: unknown): unknown {
  const present = withoutNulls(value ?? {});
  return isDeepStrictEqual(present, {}) ? undefined : present;
}

function dependenciesOf(item: ConfigItem): readonly string[] {
  return [
    ...pathsIn(item.value),
    ...(item.parent === undefined ? [] : [item.parent]),
    ...(item.section.namedBy === undefined ? [] : [`${item.section.namedBy}/${item.name}`]),
  ];
}

type WriteStep = Exclude<Step, { action: "delete" }>;

/** Depth first: what an object refers to comes before it. */
function orderWrites(writes: readonly Step[], problems: string[]): readonly Step[] {
  const steps = new Map(writes.map((step) => [step.path, step as WriteStep]));
  const ordered: Step[] = [];
  const state = new Map<string, "visiting" | "done">();
  const visit = (path: string): void => {
    const step = steps.get(path);
    if (step === undefined || state.get(path) === "done") return;
    if (state.get(path) === "visiting") {
      problems.push(`${path} refers to itself through other objects`);
      return;
    }
    state.set(path, "visiting");
    dependenciesOf(step.item).forEach(visit);
    // Names are no references: a schema may contain itself.
    for (const name of step.item.section.namesIn?.(step.item.value) ?? []) {
      if (state.get(name) !== "visiting") visit(name);
    }
    state.set(path, "done");
    ordered.push(step);
  };
  for (const path of steps.keys()) visit(path);
  return ordered;
}

const isDeleted = (path: string, file: ConfigFile, current: ConfigItems<StoredItem>): boolean => {
  const item = current.get(path);
  return (
    item !== undefined &&
    !file.items.has(path) &&
    file.sections.has(item.section.name) &&
    item.section.remove !== undefined
  );
};

/**
 * Referring objects first; campaigns last, because a deleted campaign cannot be restored. Until then they keep their
 * validation rules in use, so those that are deleted too are detached from them before.
 */
function planDeletions(
  current: ConfigItems<StoredItem>,
  filter: (path: string) => boolean,
): readonly Step[] {
  const deleted = new Map([...current].filter(([path]) => filter(path)));
  const detached = [...deleted].flatMap(([path, item]) => detachRules(path, item, deleted));
  const deletions = orderDeletions(deleted)
    .toSorted(([, a], [, b]) => deletionRank(a) - deletionRank(b))
    .map(([path, item]): Step => ({ action: "delete", path, current: item }));
  return [...detached, ...deletions];
}

function detachRules(
  path: string,
  current: StoredItem,
  deleted: ConfigItems<StoredItem>,
): readonly Step[] {
  const field = "validation_rules";
  const from = current.value[field];
  const keepsInUse = current.section.name === "campaigns" && referToSome(from, deleted);
  if (!keepsInUse) return [];
  const item = { ...current, value: { [field]: [] } };
  return [{ action: "update", path, item, current, changes: [{ field, from, to: [] }] }];
}

const referToSome = (value: unknown, items: ConfigItems): boolean =>
  [...pathsIn(value)].some((path) => items.has(path));

/** Objects before what they refer to. */
function orderDeletions(deleted: ConfigItems<StoredItem>): readonly [string, StoredItem][] {
  const ordered = new Map<string, StoredItem>();
  const visit = (path: string, seen: ReadonlySet<string>): void => {
    const item = deleted.get(path);
    if (item === undefined || ordered.has(path) || seen.has(path)) return;
    const names = item.section.namesIn?.(item.value) ?? [];
    const others = new Set([...seen, path]);
    for (const target of [...dependenciesOf(item), ...names]) visit(target, others);
    ordered.set(path, item);
  };
  for (const path of deleted.keys()) visit(path, new Set());
  return [...ordered].toReversed();
}

const deletionRank = ({ section }: StoredItem): number =>
  section.name === "campaigns" ? SECTIONS.length : SECTIONS.length - SECTIONS.indexOf(section);
