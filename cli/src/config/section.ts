import { encode } from "../commands/arguments.ts";
import { type JsonObject, rowsOf } from "../http.ts";
import type { ProjectApi } from "./project-api.ts";

/** An object as the API returns it. `parent` is the id of the object that it belongs to. */
export type LoadedItem = {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
  readonly value: JsonObject;
};

/** A write of one object: all values are complete, with ids instead of references. */
export type Write = {
  readonly id: string;
  readonly parent: string;
  readonly name: string;
  /** The desired state of the object; of a new one, without nulls. */
  readonly value: JsonObject;
  /** The current values of the fields that change. */
  readonly before: JsonObject;
  /** The fields that change. */
  readonly changed: readonly string[];
};

/** How one section of the configuration file is read from a project and written to it. */
export type Section = {
  readonly name: string;
  /** One object without a name: the section is the object. */
  readonly single?: boolean;
  /** Section of the objects that contain these: the file has one more level. */
  readonly parent?: string;
  /** Fields in the order of the file. */
  readonly fields: readonly string[];
  /** Fields that cannot change after creation. */
  readonly fixed?: readonly string[];
  /** The name is the name of an object of this section, not a name of its own. */
  readonly namedBy?: string;
  /** Paths of objects that the value refers to by their names in the API, which need no `$ref:`. */
  namesIn?(value: JsonObject): readonly string[];
  /** Converts a value to the form that the API returns, if several forms have the same meaning. */
  normalize?(value: JsonObject): JsonObject;
  load(api: ProjectApi, parents: readonly LoadedItem[]): Promise<readonly LoadedItem[]>;
  create?(api: ProjectApi, write: Write): Promise<string>;
  update?(api: ProjectApi, write: Write): Promise<void>;
  remove?(api: ProjectApi, item: { readonly id: string; readonly parent: string }): Promise<void>;
};

export const pick = (source: JsonObject, fields: readonly string[]): JsonObject =>
  Object.fromEntries(
    fields.filter((field) => source[field] !== undefined).map((field) => [field, source[field]]),
  );

export const changes = ({ value, before, changed }: Write): JsonObject =>
  Object.fromEntries(
    changed.map((field) => [
      field,
      field === "metadata" ? metadataChange(value[field], before[field]) : (value[field] ?? null),
    ]),
  );

/** Updates merge metadata key by key, so keys that shall go are sent as null. */
const metadataChange = (value: unknown, before: unknown): JsonObject => ({
  ...Object.fromEntries(Object.keys((before ?? {}) as JsonObject).map((key) => [key, null])),
  ...((value ?? {}) as JsonObject),
});

export const idOf = (created: JsonObject): string => String(created["id"]);

/** Rules attached to an object, as the file lists them: ids of validation rules. */
export function rulesOf(source: JsonObject): JsonObject {
  const list = source["validation_rules_assignments"] as JsonObject | undefined;
  const rules = ((list?.["data"] ?? []) as JsonObject[]).map((each) => each["rule_id"]);
  return rules.length > 0 ? { validation_rules: rules } : {};
}

/** Updates the fields, and then the rules, whose assignments have endpoints of their own. */
export async function updateWithRules(
  api: ProjectApi,
  write: Write,
  {
    type,
    path,
    bodyOf = (fields) => fields,
  }: {
    readonly type: string;
    readonly path: string;
    readonly bodyOf?: (fields: JsonObject) => JsonObject;
  },
): Promise<void> {
  const { validation_rules: _, ...fields } = changes(write);
  const body = bodyOf(fields);
  if (Object.keys(body).length > 0) await api.call("PUT", path, body);
  await changeRules(api, type, write);
}

async function changeRules(api: ProjectApi, type: string, write: Write): Promise<void> {
  if (!write.changed.includes("validation_rules")) return;
  const wanted = (write.value["validation_rules"] ?? []) as string[];
  const present = rowsOf(
    await api.call("GET", `/v1/validation-rules-assignments?related_object_id=${encode(write.id)}`),
  );
  // The new rule first: the object never exists without any.
  for (const rule of wanted.filter((id) => !present.some((each) => each["rule_id"] === id))) {
    await api.call("POST", `/v1/validation-rules/${encode(rule)}/assignments`, {
      related_object_id: write.id,
      related_object_type: type,
    });
  }
  for (const each of present.filter((row) => !wanted.includes(String(row["rule_id"])))) {
    const rule = encode(String(each["rule_id"]));
    await api.call("DELETE", `/v1/validation-rules/${rule}/assignments/${idOf(each)}`);
  }
}

type Resource = {
  readonly name: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly fixed?: readonly string[];
};

/** A section whose objects have a name and the usual five endpoints. */
export const resource = ({ name, path, fields, fixed }: Resource): Section => ({
  name,
  fields,
  ...(fixed && { fixed }),
  load: async (api) => toItems(await api.listAll(path), { valueOf: (row) => pick(row, fields) }),
  create: async (api, write) =>
    idOf(await api.call("POST", path, { name: write.name, ...write.value })),
  update: async (api, write) =>
    void (await api.call("PUT", `${path}/${write.id}`, { name: write.name, ...changes(write) })),
  remove: async (api, { id }) => void (await api.call("DELETE", `${path}/${id}`)),
});

/** Turns the rows of a list of the API into items. */
export const toItems = (
  rows: readonly JsonObject[],
  {
    parent,
    nameOf = (row) => row["name"],
    valueOf,
  }: {
    readonly parent?: string;
    readonly nameOf?: (row: JsonObject) => unknown;
    readonly valueOf: (row: JsonObject) => JsonObject;
  },
): readonly LoadedItem[] =>
  rows.map((row) => ({
    id: idOf(row),
    name: String(nameOf(row)),
    ...(parent !== undefined && { parent }),
    value: valueOf(row),
  }));

export async function loadOfParents(
  parents: readonly LoadedItem[],
  load: (parent: LoadedItem) => Promise<readonly LoadedItem[]>,
): Promise<readonly LoadedItem[]> {
  const items: LoadedItem[] = [];
  for (const parent of parents) items.push(...(await load(parent)));
  return items;
}
