import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { parseAllDocuments } from "yaml";

import { ROOT } from "../stack/process.ts";

const run = promisify(execFile);

const CHART = path.join(ROOT, "deploy/helm/scrip");

/** An object of the Kubernetes API; tests look into objects of any kind. */
// oxlint-disable-next-line typescript/no-explicit-any
export type KubernetesObject = any;

/** What the chart needs at least. */
export const REQUIRED = {
  secrets: { existingSecret: "scrip-secrets" },
  database: { existingSecret: "scrip-database" },
  files: { bucket: "scrip-exports" },
};

export const ofKind = (objects: readonly KubernetesObject[], kind: string) =>
  objects.filter((object) => object.kind === kind);

export const componentOf = (labels: Record<string, string>): string =>
  labels["app.kubernetes.io/component"] ?? "";

export const podsOf = (objects: readonly KubernetesObject[]): readonly KubernetesObject[] =>
  objects.flatMap(({ kind, spec }) => {
    if (kind === "Pod") return [spec];
    if (kind === "CronJob") return [spec.jobTemplate.spec.template.spec];
    return ["Deployment", "StatefulSet", "Job"].includes(kind) ? [spec.template.spec] : [];
  });

/** Rendering takes most of the time of the tests, which look at the same installations. */
const rendered = new Map<string, Promise<readonly KubernetesObject[]>>();

/** The objects that an installation with these values would create. */
export function render(values: object): Promise<readonly KubernetesObject[]> {
  const key = JSON.stringify(values);
  const objects =
    rendered.get(key) ??
    withValues(values, async (file) =>
      objectsOf(await helm("template", "shop", CHART, "-f", file)),
    );
  rendered.set(key, objects);
  return objects;
}

export const lint = (values: object): Promise<string> =>
  withValues(values, (file) => helm("lint", "--strict", CHART, "-f", file));

/** The objects that a version of the Kubernetes API does not accept as they are, unknown fields included. */
export async function findInvalid(
  objects: readonly KubernetesObject[],
  version: string,
): Promise<string> {
  return withFile(objects.map((object) => JSON.stringify(object)).join("\n---\n"), async (file) => {
    const args = ["--strict", "--quiet", "-k", version, file];
    const { stdout, stderr } = await run("kubernetes-validate", args).catch(
      (error: { readonly stdout: string; readonly stderr: string }) => error,
    );
    return stdout + stderr;
  });
}

async function helm(...args: readonly string[]): Promise<string> {
  const { stdout } = await run("helm", args, { maxBuffer: 16 * 1024 * 1024 });
  return stdout;
}

const objectsOf = (text: string): readonly KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document): KubernetesObject => document.toJS())
    .filter((object) => object !== null);

/** JSON is YAML. */
const withValues = <Result>(values: object, work: (file: string) => Promise<Result>) =>
  withFile(JSON.stringify(values), work);

async function withFile<Result>(
  text: string,
  work: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-chart-"));
  try {
    const file = path.join(folder, "input.yaml");
    await writeFile(file, text);
    return await work(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
