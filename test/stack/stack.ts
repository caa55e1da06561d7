import { emptyDatabase } from "@scrip/testing";
import { inject } from "vitest";

import { type ApiResponse, type Json, managementApi, newCode } from "./api.ts";
import { type Composition, type Stack, startComposition } from "./compositions.ts";

export { type Composition, COMPOSITIONS, type ServiceName, type Stack } from "./compositions.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Where `global-setup.ts` tells of the stacks that the files of a run share. */
    stacksUrl: string;
  }
}

const logs = new Set<string>();

/** The files that the stacks of this test wrote to. */
export const usedLogs = (): readonly string[] => [...logs];

/**
 * A stack of the test's own, on a database of its own: for tests that crash it, that look at all it
 * holds or wrote, or that bring it to its limits.
 */
export async function startStack(
  composition: Composition,
  env: Readonly<Record<string, string>> = {},
): Promise<Stack> {
  const stack = await startComposition(composition, { database: await emptyDatabase(), env });
  logs.add(stack.log);
  return stack;
}

/** A stack that runs for all test files; the keys are those of a project of this file's own. */
export type SharedStack = Omit<Stack, "crash" | typeof Symbol.asyncDispose> & {
  readonly projectId: string;
};

/**
 * The stack of this kind that the files of a run share, begun by whoever comes first. Nothing may
 * depend on what is outside of the project.
 */
export async function sharedStack(composition: Composition): Promise<SharedStack> {
  const response = await fetch(`${inject("stacksUrl")}/${composition}`);
  if (!response.ok) throw new Error(await response.text());
  const stack = (await response.json()) as Omit<SharedStack, "projectId">;
  logs.add(stack.log);
  const project = createdProject(
    await managementApi(stack).post("/management/v1/projects", {
      name: newCode("file"),
      client_trusted_domains: ["*"],
    }),
  );
  const { app_id: appId, app_token: appToken } = project["server_side_key"];
  const { app_id: clientAppId, app_token: clientToken } = project["client_side_key"];
  const keys = { ...stack.keys, appId, appToken, clientAppId, clientToken };
  return { ...stack, keys, projectId: project["id"] };
}

function createdProject({ status, body, text }: ApiResponse): Json {
  if (status !== 200) throw new Error(`no project: ${text}`);
  return body;
}
