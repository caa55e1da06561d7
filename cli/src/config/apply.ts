import { CliError } from "../cli-error.ts";
import type { JsonObject } from "../http.ts";
import { findCatalogueIds } from "./catalogue.ts";
import { planRestore, type Step } from "./plan.ts";
import type { ProjectApi } from "./project-api.ts";
import {
  type ConfigItem,
  type ConfigItems,
  loadProject,
  type StoredItem,
} from "./project-state.ts";
import { pathsIn, resolveReferences } from "./references.ts";

type Ids = Map<string, string>;

/** The step that creates an object was rejected, so others that refer to it cannot be made yet. */
class MissingObject extends CliError {}

/** Makes the changes of a plan, one after another. */
export class Change {
  readonly #api: ProjectApi;
  readonly #ids: Ids;

  private constructor(api: ProjectApi, ids: Ids) {
    this.#api = api;
    this.#ids = ids;
  }

  /** Resolves everything that the plan refers to before anything is written. */
  static async prepare(
    api: ProjectApi,
    steps: readonly Step[],
    current: ConfigItems<StoredItem>,
  ): Promise<Change> {
    const ids = new Map([...current].map(([path, { id }]) => [path, id]));
    const items = steps.flatMap((step) => [
      ...(step.action === "delete" ? [] : [step.item]),
      ...(step.action === "create" ? [] : [step.current]),
    ]);
    const referred = pathsIn(items.map(({ value }) => value));
    for (const [path, id] of await findCatalogueIds(api, referred)) ids.set(path, id);
    return new Change(api, ids);
  }

  async run(step: Step): Promise<void> {
    if (step.action === "create") await this.#create(step.path, step.item);
    else if (step.action === "update") await this.#update(step);
    else await this.#delete(step.current);
  }

  async #create(path: string, item: ConfigItem): Promise<void> {
    const write = this.#write(item);
    const id = await item.section.create?.(this.#api, {
      ...write,
      value: withoutNulls(write.value),
      id: "",
      before: {},
      changed: Object.keys(item.value),
    });
    if (id === undefined) throw new CliError(`${path} cannot be created`);
    this.#ids.set(path, id);
  }

  async #update({ item, current, changes }: Step & { action: "update" }): Promise<void> {
    await item.section.update?.(this.#api, {
      ...this.#write({ ...item, value: { ...current.value, ...item.value } }),
      id: current.id,
      before: this.#write(current).value,
      changed: changes.map(({ field }) => field),
    });
  }

  async #delete({ section, id, parent }: StoredItem): Promise<void> {
    await section.remove?.(this.#api, { id, parent: this.#idOf(parent) });
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
    if (id === undefined) throw new MissingObject(`${path} does not exist`);
    return id;
  }
}

const withoutNulls = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

export const describeStep = (step: Step): string => {
  const sign = { create: "+", update: "~", delete: "-" }[step.action];
  return `${sign} ${step.path}`;
};

type RunOptions = {
  readonly onStep?: (step: Step) => void;
  /** Also runs the steps after one that failed. */
  readonly keepsGoing?: boolean;
};

/**
 * Runs steps and returns the errors of those that failed. Ranges of loyalty tiers must not overlap at any time, and one reward of a
 * program is redeemed automatically, so a tier or assignment that is rejected is retried after other steps, which may remove the conflict.
 */
export async function runSteps(
  change: Change,
  steps: readonly Step[],
  { onStep, keepsGoing = false }: RunOptions = {},
): Promise<ReadonlyMap<Step, Error>> {
  let remaining = steps;
  for (;;) {
    const failed = new Map<Step, Error>();
    for (const step of remaining) {
      if (remaining === steps) onStep?.(step);
      const error = await change.run(step).then(
        () => undefined,
        (reason: Error) => reason,
      );
      if (error === undefined) continue;
      failed.set(step, error);
      if (!keepsGoing && !isRetried(step, error)) return failed;
    }
    const canProgress = [...failed].some(([step, error]) => isRetried(step, error));
    if (!canProgress || failed.size === remaining.length) return failed;
    remaining = [...failed.keys()];
  }
}

const sectionOf = (step: Step): string =>
  (step.action === "delete" ? step.current : step.item).section.name;

const isRetried = (step: Step, error: Error): boolean =>
  ["loyalty_tiers", "reward_assignments"].includes(sectionOf(step)) ||
  error instanceof MissingObject;

const isLost = (step: Step): boolean => step.action === "create" && sectionOf(step) === "campaigns";

/** A deleted campaign cannot be restored. */
export const isIrreversible = (step: Step): boolean =>
  step.action === "delete" && sectionOf(step) === "campaigns";

/**
 * Restores the earlier state of the objects at the paths, also after requests whose response was lost: they may have
 * taken effect. Returns the objects that could not be restored.
 */
export async function restore(
  api: ProjectApi,
  paths: ReadonlySet<string>,
  before: ConfigItems<StoredItem>,
): Promise<readonly string[]> {
  const current = await loadProject(api);
  const steps = planRestore(paths, before, current);
  const change = await Change.prepare(api, steps, current);
  const failed = await runSteps(
    change,
    steps.filter((step) => !isLost(step)),
    {
      keepsGoing: true,
    },
  );
  const errors = new Map([...failed].map(([{ path }, { message }]) => [path, message]));
  for (const { path } of steps.filter(isLost)) {
    errors.set(path, "a deleted campaign cannot be restored");
  }
  const remaining = planRestore(paths, before, await loadProject(api));
  return remaining.map(({ path }) => `${path}: ${errors.get(path) ?? "changes remain"}`);
}
