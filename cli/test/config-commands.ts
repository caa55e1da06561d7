import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll } from "vitest";

import type { Environment } from "../src/settings.ts";
import { scrip, startInstallation } from "./installation.ts";

export type Project = { readonly id: string; readonly env: Environment };

/** An installation and the commands of `scrip config`, until the tests of the file end. */
export async function startConfig() {
  const installation = await startInstallation();
  const commands = await openConfigCommands();
  afterAll(async () => {
    await installation[Symbol.asyncDispose]();
    await commands[Symbol.asyncDispose]();
  });
  return { installation, ...commands };
}

/** Runs the commands of `scrip config`, with files in a temporary folder. */
async function openConfigCommands() {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-config-"));
  let files = 0;
  async function fileOf(text: string | Uint8Array): Promise<string> {
    files += 1;
    const file = path.join(folder, `${files}.yaml`);
    await writeFile(file, text);
    return file;
  }
  return {
    apply: async ({ env, id }: Project, text: string, ...options: readonly string[]) =>
      scrip(env, "config", "apply", id, await fileOf(text), ...options),
    plan: async ({ env, id }: Project, text: string | Uint8Array) =>
      scrip(env, "config", "plan", id, await fileOf(text)),
    exported: async ({ env, id }: Project): Promise<string> => {
      const file = await fileOf("");
      const { exitCode, errors } = await scrip(env, "config", "export", id, "-o", file);
      if (exitCode !== 0) throw new Error(errors);
      return readFile(file, "utf8");
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function createProject(env: Environment): Promise<Project> {
  const { json } = await scrip(env, "--json", "projects", "create", "--name", "Shop");
  const { app_id: id, app_token: token } = json.server_side_key;
  return { id: json.id, env: { ...env, SCRIP_APP_ID: id, SCRIP_APP_TOKEN: token } };
}
