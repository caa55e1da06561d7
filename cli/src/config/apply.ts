import { CliError } from "../cli-error.ts";
import { encode } from "../commands/arguments.ts";
import type { JsonObject } from "../http.ts";
import type { Plan, Step } from "./plan.ts";
import type { ProjectApi } from "./project-api.ts";
import {
  type ConfigItem,
  type ConfigItems,
  isCataloguePath,
  type StoredItem,
} from "./project-state.ts";
import { pathsIn, resolveReferences } from "./references.ts";

type Ids = Map<string, string>;
type Undo = { readonly path: string; readonly run: () => Promise<void> };

/** Makes the changes that can be undone, so that either all of them take effect or none. */
export class Change {
  readonly #api: ProjectApi;
  readonly #ids: Ids;
  readonly #undos: Undo[] = [];

  private constructor(api: ProjectApi, ids: Ids) {
    this.#api = api;
    this.#ids = ids;
  }

  /** Resolves everything that the plan refers to before anything is written. */
  static async prepare(
    api: ProjectApi,
    plan: Plan,
    current: ConfigItems<StoredItem>,
  ): Promise<Change> {
    const ids = new Map([...current].map(([path, { id }]) => [path, id]));
    const items = plan.steps.map((step) => (step.action === "delete" ? step.current : step.item));
    for (const path of pathsIn(items.map(({ value }) => value))) {
      if (!isCataloguePath(path)) continue;
      const [resource = "", ...source] = path.split("/");
      const found = await api.call("GET", `/v1/${resource}/${encode(source.join("/"))}`);
      ids.set(path, String(found["id"]));
    }
    return new Change(api, ids);
  }

  async run(step: Step): Promise<void> {
    if (step.action === "create") await this.#create(step.path, step.item);
    else if (step.action === "update") await this.#update(step);
    else await this.#delete(step.path, step.current);
  }

  /** Undoes the changes, the last one first; returns what could not be undone. */
  async undo(): Promise<readonly string[]> {
    const failures: string[] = [];
    for (const { path, run } of this.#undos.toReversed()) {
      await run().catch((error: Error) => failures.push(`${path}: ${error.message}`));
    }
    return failures;
  }

  async #create(path: string, item: ConfigItem): Promise<void> {
    const { section } = item;
    const write = this.#write(item);
    const id = await section.create?.(this.#api, {
      ...write,
      value: withoutNulls(write.value),
      id: "",
      before: {},
      changed: Object.keys(item.value),
    });
    if (id === undefined) throw new CliError(`${path} cannot be created`);
    this.#ids.set(path, id);
    const parent = this.#idOf(item.parent);
    this.#undos.push({ path, run: async () => section.remove?.(this.#api, { id, parent }) });
  }

  async #update({ path, item, current, changes }: Step & { action: "update" }): Promise<void> {
    const { section } = item;
    const changed = changes.map(({ field }) => field);
    const after = this.#write({ ...item, value: { ...current.value, ...item.value } });
    const before = this.#write(current);
    const { id } = current;
    // First: an update of several requests may stop halfway.
    this.#undos.push({
      path,
      run: async () => section.update?.(this.#api, { ...before, id, before: after.value, changed }),
    });
    await section.update?.(this.#api, { ...after, id, before: before.value, changed });
  }

  async #delete(path: string, current: StoredItem): Promise<void> {
    const parent = this.#idOf(current.parent);
    await current.section.remove?.(this.#api, { id: current.id, parent });
    this.#undos.push({
      path,
      run: async () => {
        if (current.section.name === "campaigns")
          throw new CliError("a deleted campaign cannot be restored");
        await this.#create(path, current);
      },
    });
  }

  #write({ section, parent, name, value }: ConfigItem): {
    readonly parent: string;
    readonly name: string;
    readonly value: JsonObject;
  } {
    return {
      parent: this.#idOf(parent),
      name: section.namedBy === undefined ? name : this.#idOf(`${section.namedBy}/${name}`),
      value: resolveReferences(value, (path) => this.#idOf(path)),
    };
  }

  #idOf(path: string | undefined): string {
    if (path === undefined) return "";
    const id = this.#ids.get(path);
    if (id === undefined) throw new CliError(`${path} does not exist`);
    return id;
  }
}

const withoutNulls = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

export const describeStep = (step: Step): string => {
  const sign = { create: "+", update: "~", delete: "-" }[step.action];
  return `${sign} ${step.path}`;
};
