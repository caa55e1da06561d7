import { isUtf8 } from "node:buffer";
import { readFile, writeFile } from "node:fs/promises";

import type { Command } from "commander";

import { CliError, EXIT_FAILED, usageError } from "../cli-error.ts";
import { Change, describeStep, isIrreversible, restore, runSteps } from "../config/apply.ts";
import { findCatalogueIds } from "../config/catalogue.ts";
import { type ConfigFile, formatFile, parseFile } from "../config/file.ts";
import { catalogueReferences, planChanges, type Step, unknownReference } from "../config/plan.ts";
import { openProject, type ProjectApi } from "../config/project-api.ts";
import { type ConfigItems, loadProject, type StoredItem } from "../config/project-state.ts";
import type { Context } from "../context.ts";
import { checkWritable, unreadable } from "../files.ts";
import { isJsonObject } from "../http.ts";
import { countOf } from "../output.ts";

type ExportOptions = { readonly output?: string };
type ApplyOptions = { readonly delete?: boolean };

export function addConfig(program: Command, context: Context): void {
  const config = program
    .command("config")
    .description("Export, compare and apply the configuration of a project as a YAML file.");
  withProject(config.command("export").description("Write the configuration of a project as YAML."))
    .option("-o, --output <file>", "file to write (default: standard output)")
    .action((project: string, options: ExportOptions) => exportConfig(context, project, options));
  withFile(
    config
      .command("plan")
      .description(
        "Show what `apply` would change; exit code 1 if there are changes, 2 if the file is invalid.",
      ),
  ).action((project: string, file: string) => printPlan(context, project, file));
  withFile(
    config.command("apply").description("Change the project to match the file: all or nothing."),
  )
    .option("--delete", "also delete the objects that the file leaves out")
    .action((project: string, file: string, options: ApplyOptions) =>
      applyConfig(context, project, file, options),
    );
}

const withProject = (command: Command): Command =>
  command.argument("<project>", "id of the project");

const withFile = (command: Command): Command =>
  withProject(command).argument("<file>", "configuration file");

async function exportConfig(
  { settings, print }: Context,
  project: string,
  { output }: ExportOptions,
): Promise<void> {
  if (output !== undefined) await checkWritable(output);
  const text = formatFile(await loadProject(await openProject(settings, project)));
  if (output === undefined) {
    print({ json: { yaml: text }, text: text.trimEnd() });
    return;
  }
  await writeFile(output, text);
  print({ json: { file: output }, text: `wrote ${output}` });
}

type Loaded = {
  readonly api: ProjectApi;
  readonly file: ConfigFile;
  readonly current: ConfigItems<StoredItem>;
  readonly steps: readonly Step[];
};

/** A file that cannot be applied is invalid usage: scripts tell it from one that differs. */
async function loadPlan({ settings }: Context, project: string, name: string): Promise<Loaded> {
  const bytes = await readFile(name).catch((error: Error) => {
    throw unreadable(name, error);
  });
  if (!isUtf8(bytes)) throw usageError(`${name} is not UTF-8`);
  const file = parseFile(bytes.toString("utf8"), name);
  const api = await openProject(settings, project);
  const current = await loadProject(api);
  const { steps, problems } = planChanges(file, current);
  const references = catalogueReferences(steps);
  const found = await findCatalogueIds(api, references.keys());
  const missing = [...references].filter(([target]) => !found.has(target));
  const all = [...problems, ...missing.map(([target, path]) => unknownReference(path, target))];
  if (all.length > 0) throw usageError(`${name}: ${all.join("; ")}`);
  return { api, file, current, steps };
}

async function printPlan(context: Context, project: string, file: string): Promise<void> {
  const { steps } = await loadPlan(context, project, file);
  context.print({ json: planToJson(steps), text: planToText(steps) });
  if (steps.length > 0)
    throw new CliError("the project differs from the file", { exitCode: EXIT_FAILED });
}

async function applyConfig(
  context: Context,
  project: string,
  name: string,
  options: ApplyOptions,
): Promise<void> {
  const { api, file, current, steps } = await loadPlan(context, project, name);
  if (steps.length === 0) {
    context.print({ json: planToJson(steps), text: "nothing to change" });
    return;
  }
  const deletions = steps.filter(({ action }) => action === "delete");
  if (deletions.length > 0 && options.delete !== true) {
    throw usageError(
      `the file leaves out ${deletions.map(({ path }) => path).join(", ")}: repeat the command with --delete, or add them to the file`,
    );
  }
  const change = await Change.prepare(api, steps, current);
  try {
    const onStep = (step: Step): void => context.note(describeStep(step));
    const last = steps.filter(isIrreversible);
    await run(
      change,
      steps.filter((step) => !isIrreversible(step)),
      onStep,
    );
    await verify(api, file, new Set(last.map(({ path }) => path)));
    await run(change, last, onStep);
  } catch (error) {
    const paths = new Set(steps.map(({ path }) => path));
    await undo(() => restore(api, paths, current), error as Error);
  }
  context.print({ json: planToJson(steps), text: `${countOf(steps.length, "change")} applied` });
}

async function run(
  change: Change,
  steps: readonly Step[],
  onStep: (step: Step) => void,
): Promise<void> {
  const failed = await runSteps(change, steps, { onStep });
  const error = [...failed.values()].at(-1);
  if (error !== undefined) throw error;
}

/** The API ignores what it does not know, such as a misspelt field. */
async function verify(
  api: ProjectApi,
  file: ConfigFile,
  pending: ReadonlySet<string>,
): Promise<void> {
  const { steps } = planChanges(file, await loadProject(api));
  const remaining = steps.filter(({ path }) => !pending.has(path));
  if (remaining.length === 0) return;
  throw new CliError(`the API did not accept:\n${planToText(remaining)}`);
}

async function undo(change: () => Promise<readonly string[]>, error: Error): Promise<never> {
  const failures = await change().catch((problem: Error) => [problem.message]);
  const outcome =
    failures.length === 0
      ? "All changes were undone."
      : `Not undone: ${failures.join("; ")}. Run plan to see what remains.`;
  throw new CliError(`${error.message}\n${outcome}`, { cause: error });
}

const planToJson = (steps: readonly Step[]): unknown => ({
  steps: steps.map((step) => ({
    action: step.action,
    path: step.path,
    ...(step.action === "update" && { changes: step.changes }),
  })),
});

const planToText = (steps: readonly Step[]): string =>
  steps.length === 0 ? "no differences" : steps.flatMap(stepLines).join("\n");

const stepLines = (step: Step): string[] => [
  describeStep(step),
  ...(step.action === "update"
    ? step.changes.flatMap(({ field, from, to }) => leafChanges(field, from, to))
    : []),
];

/** One line per value that changes, however deep it is nested. */
function leafChanges(path: string, from: unknown, to: unknown): string[] {
  if (!isJsonObject(from) || !isJsonObject(to)) {
    const [before, after] = [JSON.stringify(from ?? null), JSON.stringify(to ?? null)];
    return before === after ? [] : [`    ${path}: ${before} -> ${after}`];
  }
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...keys].flatMap((key) => leafChanges(`${path}.${key}`, from[key], to[key]));
}
